package cuda

// SetSlotBytes changes the size of staging memory, for backends made before the returned function is called.
func SetSlotBytes(n int) (restore func()) {
	was := slotBytes
	slotBytes = n
	return func() { slotBytes = was }
}

// Kept is the number of blocks of device memory that the backend keeps.
func (b *Backend) Kept() int {
	if b.size > 0 {
		return 1
	}
	return 0
}
