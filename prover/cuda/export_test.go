package cuda

// SetSlotBytes changes the size of staging memory, for backends made before the returned function is called.
func SetSlotBytes(n int) (restore func()) {
	was := slotBytes
	slotBytes = n
	return func() { slotBytes = was }
}
