// Keeps the page for when there is no network. The network comes first: a page that can be fetched is never an old one.
importScripts("files.js"); // sets self.site, and makes this script another one whenever a file changes

const cacheName = `ixprove-${self.site.version}`;

self.addEventListener("install", (event) => {
  const requests = self.site.files.map((file) => new Request(file, { cache: "no-cache" }));
  event.waitUntil(caches.open(cacheName).then((cache) => cache.addAll(requests)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const old = async () => {
    const names = await caches.keys();
    await Promise.all(names.filter((name) => name.startsWith("ixprove-") && name !== cacheName).map((name) => caches.delete(name)));
    await self.clients.claim();
  };
  event.waitUntil(old());
});

self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET") return;
  event.respondWith(
    fetch(event.request).catch(async (error) => {
      const kept = await caches.match(event.request, { cacheName, ignoreSearch: true });
      if (!kept) throw error;
      return kept;
    }),
  );
});
