/** A reload of `run` is whole or not: a fault in any file keeps all that runs, and log, health and metrics tell of it. */
import type { Logger } from '../../core/logger.ts'
import type { Loaded } from '../../metadata/load/load-files.ts'
import { messageOf } from '../../support/process/error-code.ts'
import type { ConfigState } from '../shared/health-and-metrics-server.ts'
import type { ComponentSet } from './component-set.ts'

/** @param load reads what changed sources hold */
export function createReload<Sources>(options: {
  readonly running: ComponentSet
  readonly load: (sources: Sources) => Loaded
  readonly logger: Logger
}) {
  const { running, load, logger } = options
  let active: Loaded | undefined
  let lastSuccess = new Date()
  let faults: readonly string[] = []

  async function take(next: Loaded): Promise<void> {
    for (const note of next.notes) if (!active?.notes.includes(note)) logger.warn(note)
    // A program that writes a file may empty it long before the file is whole: what was right before is no warning now.
    const emptied = next.mistakes.filter((mistake) => !active?.mistakes.includes(mistake))
    const found = [...next.faults, ...emptied]
    for (const fault of found) logger.error(fault)
    if (found.length > 0) {
      faults = found
      const start = next.faults.length > 0 ? '. A start would end with 2 now' : ''
      logger.warn(`nothing is changed: all components go on as before until every file is right${start}`)
      return
    }
    active = next
    faults = await running.change(next)
    if (faults.length === 0) lastSuccess = new Date()
  }

  return {
    /** Starts the first components. Rejects where one can't be started. */
    async start(loaded: Loaded): Promise<void> {
      active = loaded
      await running.start(loaded)
      lastSuccess = new Date()
    },
    /** Takes over sources that have changed. Never rejects. */
    async changed(sources: Sources): Promise<void> {
      const had = faults.length > 0
      try {
        await take(load(sources))
        if (had && faults.length === 0) logger.info('every component file is valid again')
      } catch (error) {
        faults = [`the components could not be read again: ${messageOf(error)}`]
        for (const fault of faults) logger.error(fault)
      }
    },
    state: (): ConfigState => ({ successful: faults.length === 0, lastSuccess, faults, leftOut: running.leftOut() }),
  }
}
