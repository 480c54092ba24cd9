// Start and restart of one side at `Init`, when its metadata changed; `direction` set.
import { createHash } from 'node:crypto'
import { Binding } from '../../binding/binding.ts'
import type { Endpoints } from '../../core/endpoints.ts'
import { BindingError } from '../../core/errors.ts'
import { type Logger, withoutWarnings } from '../../core/logger.ts'
import type { Side as SideName } from '../../metadata/fields/field-table.ts'
import { oneSide } from '../../metadata/typed/configured-sides.ts'
import type { Metadata } from '../../metadata/typed/metadata.ts'
import { parseMetadata } from '../../metadata/typed/parse-metadata.ts'
import type { Texts } from './grpc/contract.ts'

export interface SideOptions {
  readonly side: SideName
  /** The component's name; empty where the host gives none. */
  readonly component: string
  readonly logger: Logger
  readonly endpoints?: Endpoints | undefined
  /** Called before a running side is closed: releases what keeps it open. */
  readonly onRestart?: () => void
  /** Called with a binding before it is initialised. The caller logs the warnings. */
  readonly onOpen: (binding: Binding, metadata: Metadata) => void
  /** Called when the port is in use. True: try again, it may be free now. */
  readonly makeRoom?: (metadata: Metadata) => Promise<boolean>
}

export interface CurrentSide {
  readonly fingerprint: string
  /** `undefined` where the metadata does not configure the side. */
  readonly binding: Binding | undefined
  readonly metadata: Metadata
}

/** One side of a component. Each side has its own binding, since they are initialised and closed separately. */
export function createSide(options: SideOptions) {
  const { side, component, logger, endpoints, onRestart, onOpen, makeRoom } = options
  let current: CurrentSide | undefined
  let closed = false
  /** Replaced bindings that still publish their queues. */
  const leaving = new Set<Promise<void>>()
  let turn: Promise<unknown> = Promise.resolve()
  let runningInits = 0

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work)
    turn = result.catch(() => {})
    return result
  }

  async function init(properties: Texts): Promise<void> {
    const fingerprint = fingerprintOf(properties)
    if (fingerprint === current?.fingerprint) return
    const metadata = parseMetadata(properties, { componentName: component })
    if (current) logger.info(`the metadata of the ${side} side changed: it restarts`)
    // The old input side must release its port first. The old output side goes on until the new one is ready.
    if (side === 'input') await releaseNow()
    const isConfigured = side === 'input' ? metadata.input || metadata.pull : metadata.output
    const binding = isConfigured && (await open(properties, metadata))
    if (current) leave(current)
    current = { fingerprint, binding, metadata }
    if (!binding) logger.debug(`the metadata configure no ${side} side`)
  }

  async function open(properties: Texts, metadata: Metadata): Promise<Binding> {
    const binding = new Binding({ logger: withoutWarnings(logger, metadata.warnings), ...(endpoints && { endpoints }) })
    onOpen(binding, metadata)
    const definition = { name: component || undefined, properties: oneSide(properties, side) }
    const tryInit = () => binding.init(definition, { subscription: 'background' })
    try {
      await tryInit()
    } catch (error) {
      const busy = error instanceof BindingError && error.code === 'PORT_UNAVAILABLE'
      if (!busy || !(await makeRoom?.(metadata))) throw error
      await tryInit()
    }
    return binding
  }

  function leave({ binding }: CurrentSide): void {
    if (!binding) return
    const closing = binding.close()
    leaving.add(closing)
    closing.then(
      () => leaving.delete(closing),
      () => logger.error(`the ${side} side that was replaced could not be closed`),
    )
  }

  async function releaseNow(): Promise<void> {
    if (!current) return
    const { binding } = current
    current = undefined
    onRestart?.()
    await binding?.close()
  }

  return {
    /**
     * Initialises the side; restarts it when its metadata has changed. Does nothing for a side that the metadata do not configure.
     *
     * @throws BindingError of `Binding.init`; after invalid metadata a running side goes on unchanged
     */
    async init(properties: Texts): Promise<void> {
      if (closed)
        throw new BindingError('CLOSED', { what: 'the component is closing', fix: 'call it once it runs again' })
      runningInits++
      try {
        await inTurn(() => init(properties))
      } finally {
        runningInits--
      }
    },
    /** `undefined` before `init`. */
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
      closed = true
      return inTurn(async () => {
        await Promise.all([current?.binding?.close(), ...leaving])
        current = undefined
      })
    },
  }
}

/** A digest: secrets are not stored. */
function fingerprintOf(properties: Texts): string {
  const sorted = Object.entries(properties).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex')
}
