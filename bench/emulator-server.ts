// The emulator under test, as the built package has it, in a process of its own: `bench/emulator.ts` forks it and asks it for its figures.
const before = performance.now()
const { EventGridEmulator } = await import('eventgrid-binding/emulator')
const imported = performance.now()
const emulator = await EventGridEmulator.start({
  ingress: ({ hostname, pathname }) => `http://127.0.0.1:${hostname.split('.')[0]?.slice(1)}${pathname}`,
})
const started = performance.now()

process.send?.({
  endpoints: emulator.endpoints,
  tenantId: emulator.tenantId,
  clientId: emulator.clientId,
  clientSecret: emulator.clientSecret,
  subscriptionId: emulator.subscriptionId,
  topic: emulator.topic(),
  importMs: imported - before,
  startMs: started - imported,
  /** From the process's own beginning, so with Node's. */
  upMs: started,
})

process.on('message', () => {
  globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  process.send?.({ rss, heapUsed, cpuMs: process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000 })
})
process.on('disconnect', () => void emulator.close())
