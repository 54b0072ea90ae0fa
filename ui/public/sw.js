// Shows nothing by itself and keeps nothing: it is there because phones take notifications from a worker only.

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const toPage = async () => {
    const [page] = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
    return page ? page.focus() : self.clients.openWindow("/");
  };
  event.waitUntil(toPage());
});
