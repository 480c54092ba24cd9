/** Preloaded into the host of the soak: whenever the parent asks, tells how the process is. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

process.on('message', (message) => {
  if (message !== 'how are you') return
  collect()
  const { rss, heapUsed } = process.memoryUsage()
  process.send?.({ rss, heapUsed, handles: process.getActiveResourcesInfo().length })
})
// Being asked is no reason to stay.
process.channel?.unref()
