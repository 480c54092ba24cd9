/** The slot of the output side: where the side is replaced, calls under way end on the former one. */
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

export type OutputSlot = ReturnType<typeof createOutputSlot>

export function createOutputSlot(shared: () => SideOptions) {
  let current: OpenedOutput | undefined
  /** The side was closed alone, and not opened since. */
  let isClosed = false
  /** Replaced sides whose calls are not settled. */
  const leaving = new Set<OutputSide>()

  async function open(metadata: OutputMetadata): Promise<OpenedOutput> {
    // Publishing needs libraries of its own, which take time and memory.
    const { createOutputSide } = await import('./output-side.ts')
    return { side: await createOutputSide(metadata, shared()), metadata }
  }

  /** Closes a replaced side once its calls are settled: each has a time limit of its own. */
  async function leave(before: OutputSide): Promise<void> {
    leaving.add(before)
    await before.settled()
    await before.close()
    leaving.delete(before)
  }

  return {
    health(): SideHealth | undefined {
      return isClosed ? { status: 'unhealthy', reasons: [closedSide] } : current?.side.health()
    },
    /**
     * Opens an output side in place of the present side, which takes calls until `meanwhile` is done. Where `meanwhile` fails, the present
     * side stays. A side with the same metadata goes on.
     */
    async replace(metadata: OutputMetadata | undefined, meanwhile: () => Promise<void>): Promise<void> {
      const { logger } = shared()
      const former = current
      if (former && isSameMetadata(former.metadata, metadata)) return meanwhile()
      if (former) logger.info(`the output side ${metadata ? 'starts anew' : 'ends'}`)
      const next = metadata && (await open(metadata))
      const wasClosed = isClosed
      isClosed = false
      // Before there is a listener: a handler may publish.
      current ??= next
      try {
        await meanwhile()
      } catch (error) {
        current = former
        isClosed = wasClosed
        await next?.side.close()
        throw error
      }
      current = next
      if (former) inBackground(leave(former.side), () => logger.error('the former output side could not be closed'))
    },
    /** @throws BindingError SIDE_NOT_CONFIGURED, CLOSED where the side was closed alone, and the others of `create` */
    async create(payload: unknown, call: InvokeOptions): Promise<InvokeAnswer> {
      if (isClosed) {
        const fix = 'call update to open it again, or after close() make a new Binding'
        throw new BindingError('CLOSED', { what: closedSide, fix })
      }
      if (!current) {
        throw new BindingError('SIDE_NOT_CONFIGURED', {
          what: 'operation "create" needs the output side, which is not configured or not open',
          fix: 'set accessKey and topicEndpoint in its metadata, or open the side by update',
        })
      }
      const { ids, count, requestId } = await current.side.publish(payload, call)
      const known = requestId === undefined ? {} : { requestId }
      return { ids, ...known, metadata: { ids: JSON.stringify(ids), count: String(count), ...known } }
    },
    /** Publishes what is queued, and ends. The side can be opened again. */
    async close(): Promise<void> {
      const all = [current?.side, ...leaving]
      isClosed ||= current !== undefined
      current = undefined
      await Promise.all(all.map((side) => side?.close()))
    },
  }
}

const closedSide = 'the output side is closed'
