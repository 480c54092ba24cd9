// `Init` of one side: one at a time, and nothing to do where its metadata are those that it has.
import { BindingError } from '../../core/errors.ts'
import { createTurns } from '../../support/work/in-turn.ts'
import type { Texts } from './grpc/contract.ts'
import type { InitMetadata } from './init-metadata.ts'

export interface InstanceSideOptions {
  readonly read: (properties: Texts) => InitMetadata
  /** Closes the running side before another is opened. Without it the running one goes on until then. */
  readonly release?: () => Promise<void>
  readonly open: (next: InitMetadata) => Promise<void>
  readonly close: () => Promise<void>
  readonly onRestart: () => void
}

/** One side of a component, as the calls of `Init` left it. */
export function createSide({ read, release, open, close, onRestart }: InstanceSideOptions) {
  let current: InitMetadata | undefined
  let isClosed = false
  const inTurn = createTurns()
  let runningInits = 0

  async function init(properties: Texts): Promise<void> {
    const next = read(properties)
    if (next.fingerprint === current?.fingerprint) return
    if (current) onRestart()
    await releaseNow()
    await open(next)
    current = next
  }

  async function releaseNow(): Promise<void> {
    if (!current || !release) return
    current = undefined
    await release()
  }

  return {
    /**
     * Initialises the side; restarts it when its metadata have changed. Does nothing for a side that the metadata do not configure.
     *
     * @throws BindingError METADATA_INVALID, and then a running side goes on unchanged; CLOSED; and what opening the side throws
     */
    async init(properties: Texts): Promise<void> {
      if (isClosed)
        throw new BindingError('CLOSED', { what: 'the component is closing', fix: 'call it once it runs again' })
      runningInits++
      try {
        await inTurn(() => init(properties))
      } finally {
        runningInits--
      }
    },
    /** The metadata that it was initialised with; `undefined` before `init`. */
    get current() {
      return current
    },
    get inUse() {
      return current !== undefined || runningInits > 0
    },
    /** Drains and closes the side; `init` can initialise it again. */
    release: () => inTurn(releaseNow),
    /** Drains and closes the side for good. */
    close() {
      isClosed = true
      return inTurn(async () => {
        await close()
        current = undefined
      })
    },
  }
}
