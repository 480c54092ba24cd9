/** The place of the output side: calls under way end on the former one when it is replaced. */
import { BindingError } from '../../core/errors.ts'
import { isSameMetadata } from '../../metadata/typed/metadata.ts'
import { inBackground } from '../../support/work/work.ts'
import type { InvokeAnswer, InvokeOptions } from '../binding-component.ts'
import type { SideHealth } from '../health.ts'
import { locateError } from '../locate-failure.ts'
import type { SideOptions } from '../side-options.ts'
import type { OutputSide } from './output-side.ts'
import { logChange, type OpenedSide, optionsOf, type ParsedComponent } from './parsed-component.ts'

export class OutputSlot {
  readonly #shared: () => SideOptions
  #current: OpenedSide<OutputSide> | undefined
  /** It was closed, and not opened since. */
  #isClosed = false
  /** Replaced ones whose calls are not settled. */
  readonly #leaving = new Set<OutputSide>()

  constructor(shared: () => SideOptions) {
    this.#shared = shared
  }

  component(): ParsedComponent | undefined {
    return this.#current?.origin.component
  }

  health(): SideHealth | undefined {
    if (this.#isClosed) return { status: 'unhealthy', reasons: ['the output side was closed by close({ sides })'] }
    return this.#current?.side.health()
  }

  /**
   * Opens an output side in the place of the one there is, which takes calls until `meanwhile` is done. Where that fails, the former one
   * stays. A side with the same metadata goes on.
   */
  async replace(component: ParsedComponent, meanwhile: () => Promise<void>): Promise<void> {
    const { logger } = this.#shared()
    const former = this.#current
    if (former && isSameMetadata(former.origin.component.metadata.output, component.metadata.output)) {
      await meanwhile()
      former.origin.component = component
      return
    }
    if (former) logChange('output', former.origin.component, component, logger)
    const next = await this.#open(component)
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

  async #open(component: ParsedComponent): Promise<OpenedSide<OutputSide> | undefined> {
    const { metadata, source } = component
    if (!metadata.output) return undefined
    const origin = { component }
    try {
      // It comes with libraries of its own, which take time and memory.
      const { createOutputSide } = await import('./output-side.ts')
      return { side: await createOutputSide(metadata.output, optionsOf('output', origin, this.#shared())), origin }
    } catch (error) {
      throw locateError(error, source, 'output')
    }
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
    if (!this.#current) {
      if (this.#isClosed) {
        const what = 'the output side was closed by close({ sides })'
        throw new BindingError('CLOSED', { what, fix: 'call update to open it again' })
      }
      throw new BindingError('SIDE_NOT_CONFIGURED', {
        what: 'operation "create" needs the output side, which this component does not configure',
        fix: 'set accessKey and topicEndpoint in its metadata',
      })
    }
    const { side, origin } = this.#current
    const { source } = origin.component
    try {
      const { ids, count, requestId } = await side.publish(payload, call)
      const known = requestId === undefined ? {} : { requestId }
      return { ids, ...known, metadata: { ids: JSON.stringify(ids), count: String(count), ...known } }
    } catch (error) {
      throw locateError(error, source, 'output')
    }
  }

  /** Publishes what is queued, and ends. The side can be opened again. */
  async close(): Promise<void> {
    const all = [this.#current?.side, ...this.#leaving]
    this.#isClosed ||= this.#current !== undefined
    this.#current = undefined
    await Promise.all(all.map((side) => side?.close()))
  }
}
