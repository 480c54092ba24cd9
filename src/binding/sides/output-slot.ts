/** The place of the output side: calls under way end on the former one when it is replaced. */
import { BindingError } from '../../core/errors.ts'
import { isSameMetadata, type OutputMetadata } from '../../metadata/typed/metadata.ts'
import { inBackground } from '../../support/work/work.ts'
import type { InvokeAnswer, InvokeOptions } from '../binding-component.ts'
import type { SideHealth } from '../health.ts'
import type { SideOptions } from '../side.ts'
import type { OutputSide } from './output-side.ts'

interface OpenedOutput {
  readonly side: OutputSide
  readonly metadata: OutputMetadata
}

export class OutputSlot {
  readonly #shared: () => SideOptions
  #current: OpenedOutput | undefined
  /** It was closed, and not opened since. */
  #isClosed = false
  /** Replaced ones whose calls are not settled. */
  readonly #leaving = new Set<OutputSide>()

  constructor(shared: () => SideOptions) {
    this.#shared = shared
  }

  health(): SideHealth | undefined {
    if (this.#isClosed) return { status: 'unhealthy', reasons: ['the output side was closed by close({ sides })'] }
    return this.#current?.side.health()
  }

  /**
   * Opens an output side in the place of the one there is, which takes calls until `meanwhile` is done. Where that fails, the former one
   * stays. A side with the same metadata goes on.
   */
  async replace(metadata: OutputMetadata | undefined, meanwhile: () => Promise<void>): Promise<void> {
    const { logger } = this.#shared()
    const former = this.#current
    if (former && isSameMetadata(former.metadata, metadata)) return meanwhile()
    if (former) logger.info(`the output side ${metadata ? 'starts anew' : 'ends'}`)
    const next = metadata && (await this.#open(metadata))
    const wasClosed = this.#isClosed
    this.#isClosed = false
    // Before there is a listener: a handler may publish.
    this.#current ??= next
    try {
      await meanwhile()
    } catch (error) {
      this.#current = former
      this.#isClosed = wasClosed
      await next?.side.close()
      throw error
    }
    this.#current = next
    if (former) inBackground(this.#leave(former.side), () => logger.error('the former output side could not be closed'))
  }

  async #open(metadata: OutputMetadata): Promise<OpenedOutput> {
    // It comes with libraries of its own, which take time and memory.
    const { createOutputSide } = await import('./output-side.ts')
    return { side: await createOutputSide(metadata, this.#shared()), metadata }
  }

  /** Closes a replaced side once its calls are settled: each has a time limit of its own. */
  async #leave(before: OutputSide): Promise<void> {
    this.#leaving.add(before)
    await before.settled()
    await before.close()
    this.#leaving.delete(before)
  }

  /** @throws BindingError SIDE_NOT_CONFIGURED, CLOSED where the side was closed alone, and the others of `create` */
  async create(payload: unknown, call: InvokeOptions): Promise<InvokeAnswer> {
    if (this.#isClosed) {
      const what = 'the output side was closed by close({ sides })'
      throw new BindingError('CLOSED', { what, fix: 'call update to open it again' })
    }
    if (!this.#current) {
      throw new BindingError('SIDE_NOT_CONFIGURED', {
        what: 'operation "create" needs the output side, which this component does not configure',
        fix: 'set accessKey and topicEndpoint in its metadata',
      })
    }
    const { ids, count, requestId } = await this.#current.side.publish(payload, call)
    const known = requestId === undefined ? {} : { requestId }
    return { ids, ...known, metadata: { ids: JSON.stringify(ids), count: String(count), ...known } }
  }

  /** Publishes what is queued, and ends. The side can be opened again. */
  async close(): Promise<void> {
    const all = [this.#current?.side, ...this.#leaving]
    this.#isClosed ||= this.#current !== undefined
    this.#current = undefined
    await Promise.all(all.map((side) => side?.close()))
  }
}
