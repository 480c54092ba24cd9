// The sides of run and serve, until these use Binding.
import type { TokenCredential } from '@azure/core-auth'
import { type Endpoints, emulatorRemedy, endpointsFromEnvironment, strayEmulatorId } from '../../core/endpoints.ts'
import { BindingError } from '../../core/errors.ts'
import type { EventHandler } from '../../core/event.ts'
import { type Logger, unfailing } from '../../core/logger.ts'
import type { FastifyHook } from '../../listener/http/host-plugins.ts'
import type { ParsedMetadata } from '../../metadata/typed/metadata.ts'
import { secretsOf } from '../../metadata/typed/secrets-of.ts'
import type { InvokeAnswer, InvokeOptions } from '../binding-component.ts'
import { type Health, judgeHealth } from '../health.ts'
import { locateError, locatingLogger, type PlaceOf, placesOf } from '../locate-failure.ts'
import { checkOperation } from './component-sides.ts'
import type { InputSide } from './input-side.ts'
import type { OutputSide } from './output-side.ts'

export interface DoorSidesOptions {
  readonly logger: Logger
  /** @default those of the environment of the process */
  readonly endpoints?: Endpoints | undefined
  readonly credential?: TokenCredential | undefined
  readonly fastify?: FastifyHook | undefined
}

/** A component whose metadata has been parsed. */
interface ParsedComponent {
  readonly name: string | undefined
  readonly metadata: ParsedMetadata
  /** What the metadata came from: a component of `parseComponents` tells the places of its values. */
  readonly source?: unknown
}

/** How the event subscription is brought up. */
interface InputStart {
  /** @default 'background' */
  readonly subscription?: 'wait' | 'background'
  /** Ends the start. */
  readonly signal?: AbortSignal
}

interface OpenOutput {
  readonly side: OutputSide
  readonly placeOf: PlaceOf
}

export type DoorSides = ReturnType<typeof createDoorSides>

export function createDoorSides(options: DoorSidesOptions) {
  const { credential: hostCredential, fastify } = options
  const logger = unfailing(options.logger)
  let given = options.endpoints
  let handler: EventHandler | undefined
  let input: InputSide | undefined
  let output: OpenOutput | undefined
  /** Input sides that close, while their handlers go on. */
  const draining = new Map<InputSide, Promise<void>>()
  /** Replaced output sides whose calls are not settled. */
  const leaving = new Set<OpenOutput>()

  const endpoints = () => given ?? endpointsFromEnvironment(process.env)

  function sideOptions(metadata: ParsedMetadata, placeOf: PlaceOf) {
    const secrets = () => secretsOf(metadata)
    return { endpoints: endpoints(), hostCredential, logger: locatingLogger(logger, placeOf), secrets }
  }

  function warnOfStrayId({ name, metadata: { input: push } }: ParsedComponent): void {
    const id = strayEmulatorId({ ...push, ...push?.credential }, endpoints())
    if (id === undefined) return
    const component = name === undefined ? 'this component' : `component ${JSON.stringify(name)}`
    logger.warn(`${component} has the ${id} of an emulator, and Azure does not know it: ${emulatorRemedy}`)
  }

  // Each side comes with libraries of its own, which take time and memory: only those of the configured sides are loaded.
  async function createInput({ metadata }: ParsedComponent, placeOf: PlaceOf): Promise<InputSide | undefined> {
    const common = { ...sideOptions(metadata, placeOf), handler: () => handler }
    if (metadata.input) {
      const { createInputSide } = await import('./input-side.ts')
      return createInputSide(metadata.input, { ...common, fastify })
    }
    if (!metadata.pull) return undefined
    const { createPullSide } = await import('./pull-side.ts')
    return createPullSide(metadata.pull, common)
  }

  async function closeInput(): Promise<void> {
    const before = input
    input = undefined
    if (before) {
      const closed = before.close().finally(() => draining.delete(before))
      draining.set(before, closed)
    }
    await Promise.all(draining.values())
  }

  /** Closes a replaced output side once its calls are settled: each has a time limit of its own. */
  async function leave(before: OpenOutput): Promise<void> {
    leaving.add(before)
    await before.side.settled()
    await before.side.close()
    leaving.delete(before)
  }

  async function closeOutput(): Promise<void> {
    const all = [output, ...leaving]
    output = undefined
    await Promise.all(all.map((one) => one?.side.close()))
  }

  return {
    /**
     * Opens the input side, where the metadata configure one. The former one is closed first, because it has the port.
     *
     * @throws BindingError of the side's start; then there is no input side
     */
    async openInput(
      component: ParsedComponent,
      { subscription = 'background', signal }: InputStart = {},
    ): Promise<void> {
      await closeInput()
      const placeOf = placesOf(component.source, 'input')
      warnOfStrayId(component)
      try {
        signal?.throwIfAborted()
        input = await createInput(component, placeOf)
        signal?.throwIfAborted()
        await input?.start(subscription, signal)
        signal?.throwIfAborted()
      } catch (error) {
        await closeInput()
        throw locateError(error, placeOf)
      }
    },
    /**
     * Opens the output side, where the metadata configure one. Calls go to the former one until the new one is ready, and those that it
     * has are settled before it is closed.
     *
     * @throws BindingError where credential or proxy can't be used; then the former side goes on
     */
    async openOutput({ metadata, source }: ParsedComponent): Promise<void> {
      const placeOf = placesOf(source, 'output')
      const before = output
      try {
        const { createOutputSide } = metadata.output ? await import('./output-side.ts') : {}
        const side = metadata.output && createOutputSide?.(metadata.output, sideOptions(metadata, placeOf))
        output = side && { side, placeOf }
      } catch (error) {
        throw locateError(error, placeOf)
      }
      if (before) leave(before).catch(() => logger.error('the output side that was replaced could not be closed'))
    },
    /** Later opened sides find Azure here. */
    moveTo(next: Endpoints): void {
      given = next
    },
    read(next: EventHandler | undefined): void {
      handler = next
      input?.handlerChanged()
    },
    endpoints,
    address: () => input?.address(),
    /**
     * Runs an output operation.
     *
     * @throws BindingError of `Binding.invoke`
     */
    async invoke(operation: string, payload: unknown, call: InvokeOptions): Promise<InvokeAnswer> {
      checkOperation(operation)
      if (!output) {
        throw new BindingError('SIDE_NOT_CONFIGURED', {
          what: 'operation "create" needs the output side, which this component does not configure',
          fix: 'set accessKey and topicEndpoint in its metadata',
        })
      }
      const { side, placeOf } = output
      try {
        const { ids, count, requestId } = await side.publish(payload, call)
        const known = requestId === undefined ? {} : { requestId }
        return { ids, ...known, metadata: { ids: JSON.stringify(ids), count: String(count), ...known } }
      } catch (error) {
        throw locateError(error, placeOf)
      }
    },
    health: (): Health => judgeHealth({ input: input?.health(), output: output?.side.health() }),
    /** Whether a handler runs. Until it returns it may publish, also while its side opens or closes. */
    isHandling: () => [input, ...draining.keys()].some((side) => side?.isHandling()),
    closeInput,
    closeOutput,
    /** Takes no new event, waits for the handlers under way, and only then ends the output side. */
    async close(): Promise<void> {
      await closeInput()
      await closeOutput()
    },
  }
}
