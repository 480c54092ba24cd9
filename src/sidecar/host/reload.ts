/** Takes over changed component files of `run`, whole or not at all, and tells how the last reload ended. */
import type { Logger } from '../../core/logger.ts'
import { messageOf } from '../../support/process/error-code.ts'
import { durationWords, lateReadMs } from '../../support/time/clock.ts'
import type { LoadedInWords } from '../shared/component-excerpt.ts'
import type { ConfigState } from '../shared/health-and-metrics-server.ts'
import type { ComponentSet } from './component-set.ts'

/**
 * A reload is whole or not: a fault in any file keeps all that runs, and log, health and metrics tell of it.
 *
 * @param options.load reads what changed sources hold
 */
export function createReload<Sources>(options: {
  readonly running: ComponentSet
  readonly load: (sources: Sources) => LoadedInWords
  readonly logger: Logger
}) {
  const { running, load, logger } = options
  let active: LoadedInWords | undefined
  let lastSuccess = new Date()
  let faults: readonly string[] = []

  async function changeTo(next: LoadedInWords): Promise<void> {
    for (const note of next.notes) if (!active?.notes.includes(note)) logger.warn(note)
    // A program may empty a file long before it has written the new text. So a new mistake, such as an empty file, counts as a fault.
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
    async start(loaded: LoadedInWords): Promise<void> {
      active = loaded
      await running.start(loaded)
      lastSuccess = new Date()
    },
    /** Tells that the sources could not be read in time. `changed` follows once they can be read. */
    late(): void {
      const fault = `the component files could not be read in ${durationWords(lateReadMs)}: a disk or a network mount may hang`
      faults = [fault]
      logger.error(fault)
      logger.warn('all components go on as before')
    },
    /** Takes over sources that have changed. Never rejects. */
    async changed(sources: Sources): Promise<void> {
      const had = faults.length > 0
      try {
        await changeTo(load(sources))
        if (had && faults.length === 0) logger.info('every component file is valid again')
      } catch (error) {
        faults = [`the components could not be read again: ${messageOf(error)}`]
        for (const fault of faults) logger.error(fault)
      }
    },
    state: (): ConfigState => ({ successful: faults.length === 0, lastSuccess, faults, leftOut: running.leftOut() }),
  }
}
