/** The sides of one component, for every door: opened from parsed metadata, replaced and closed each by itself. */
import type { TokenCredential } from '@azure/core-auth'
import { type Endpoints, emulatorRemedy, endpointsFromEnvironment, strayEmulatorId } from '../../core/endpoints.ts'
import { BindingError } from '../../core/errors.ts'
import type { EventHandler } from '../../core/event.ts'
import { type Logger, unfailing } from '../../core/logger.ts'
import type { FastifyHook } from '../../listener/http/host-plugins.ts'
import { keepPort, leavePort } from '../../listener/http/port-handover.ts'
import type { Side } from '../../metadata/fields/field-entry.ts'
import type { ParsedMetadata } from '../../metadata/typed/metadata.ts'
import type { MetadataProperties } from '../../metadata/typed/read-properties.ts'
import { isSameMetadata } from '../../metadata/typed/same-metadata.ts'
import { secretsOf } from '../../metadata/typed/secrets-of.ts'
import { messageOf } from '../../support/process/error-code.ts'
import { inBackground } from '../../support/work/in-background.ts'
import { createTurns } from '../../support/work/in-turn.ts'
import type { InitOptions, InvokeAnswer, InvokeOptions } from '../binding-component.ts'
import { changedFields } from '../changed-fields.ts'
import { decideHealth, type Health } from '../health.ts'
import { locateError, locatingLogger, type PlaceOf, placesOf } from '../locate-failure.ts'
import type { InputSide } from './input-side.ts'
import type { OutputSide } from './output-side.ts'

export interface ComponentSidesOptions {
  readonly logger: Logger
  /** @default those of the environment of the process */
  readonly endpoints?: Endpoints | undefined
  readonly credential?: TokenCredential | undefined
  readonly fastify?: FastifyHook | undefined
}

/** A component whose metadata has been parsed. */
export interface ParsedComponent {
  readonly name: string | undefined
  readonly metadata: ParsedMetadata
  /** What the metadata were parsed from. */
  readonly properties: MetadataProperties
  /** What the metadata came from: a component of `parseComponents` tells the places of its values. */
  readonly source?: unknown
}

/** A side that is open. Its component is replaced by one with the same metadata, as the places of these may have moved. */
interface Open<S extends InputSide | OutputSide> {
  readonly side: S
  component: ParsedComponent
  /** It closes, or has closed. */
  ending?: Promise<void>
  hasEnded?: boolean
}

/** A change of sides that is under way. */
interface Change extends InitOptions {
  /** The caller's signal, or `closed`. */
  readonly signal: AbortSignal
  /** Aborts when a side is closed. */
  readonly closed: AbortSignal
}

export type ComponentSides = ReturnType<typeof createComponentSides>

/** The output operations. */
export const operations: readonly string[] = ['create']

const bothSides: readonly Side[] = ['input', 'output']

export function createComponentSides(options: ComponentSidesOptions) {
  const { credential: hostCredential, fastify } = options
  const logger = unfailing(options.logger)
  /** Aborts the changes under way; each `close` does. */
  let closing = new AbortController()
  const inTurn = createTurns()
  const portOwner = Symbol('a component')
  let handler: EventHandler | undefined
  let input: Open<InputSide> | undefined
  let output: Open<OutputSide> | undefined
  /** Replaced input sides whose handlers go on. */
  const draining = new Set<Open<InputSide>>()
  /** Replaced output sides whose calls are not settled. */
  const leaving = new Set<Open<OutputSide>>()

  const endpoints = () => options.endpoints ?? endpointsFromEnvironment(process.env)

  function sideOptions(component: ParsedComponent, placeOf: PlaceOf) {
    const secrets = () =>
      [component, input?.component, output?.component].flatMap((one) => (one ? secretsOf(one.metadata) : []))
    return { endpoints: endpoints(), hostCredential, logger: locatingLogger(logger, placeOf), secrets }
  }

  function warnOfStrayId({ name, metadata: { input: push } }: ParsedComponent): void {
    const id = strayEmulatorId({ ...push, ...push?.credential }, endpoints())
    if (id === undefined) return
    const component = name === undefined ? 'this component' : `component ${JSON.stringify(name)}`
    logger.warn(`${component} has the ${id} of an emulator, and Azure does not know it: ${emulatorRemedy}`)
  }

  /**
   * Opens an input side that is not started yet; `undefined` where the metadata configure none.
   *
   * @param port of the side before: takes the place of a `handshakePort` of 0
   * @param release is called each time that nothing but the port is missing; what it throws ends the opening
   */
  // Each side comes with libraries of its own, which take time and memory: only those of the configured sides are loaded.
  async function createInput(
    component: ParsedComponent,
    port: number | undefined,
    release: () => void,
  ): Promise<Open<InputSide> | undefined> {
    const { input: push, pull } = component.metadata
    warnOfStrayId(component)
    const placeOf: PlaceOf = (code) => placesOf((opened?.component ?? component).source, 'input')(code)
    const common = { ...sideOptions(component, placeOf), handler: () => handler }
    let opened: Open<InputSide> | undefined
    try {
      if (push) {
        const { createInputSide } = await import('./input-side.ts')
        const at = { ...push, handshakePort: push.handshakePort || (port ?? 0) }
        const side = await createInputSide(at, { ...common, fastify, beforeListening: release, portOwner })
        opened = { side, component }
      } else if (pull) {
        const { createPullSide } = await import('./pull-side.ts')
        opened = { side: await createPullSide(pull, common), component }
      }
      release()
      return opened
    } catch (error) {
      await opened?.side.close()
      throw locateError(error, placeOf)
    }
  }

  /** Accepts no more events. Resolves when the handlers under way have ended. */
  function retire(one: Open<InputSide>): Promise<void> {
    if (one.ending) return one.ending
    draining.add(one)
    one.ending = one.side.close().finally(() => {
      one.hasEnded = true
      draining.delete(one)
    })
    return one.ending
  }

  function keepsInput({ metadata: { input: push, pull } }: ParsedComponent): boolean {
    const before = input?.component.metadata
    return !input?.ending && isSameMetadata([before?.input, before?.pull], [push, pull])
  }

  const keepsOutput = ({ metadata }: ParsedComponent) =>
    isSameMetadata(output?.component.metadata.output, metadata.output)

  /**
   * Opens an input side in the place of the one there is. What can fail without the port is done before that one stops. Where the new one
   * can't be opened, the former one is opened again.
   */
  async function replaceInput(component: ParsedComponent, { subscription = 'background', signal, closed }: Change) {
    let former = input
    const port = former?.side.address()?.port
    const wanted = component.metadata.input?.handshakePort
    const isSamePort = port !== undefined && [port, former?.component.metadata.input?.handshakePort].includes(wanted)
    const formerPort = former?.hasEnded ? undefined : port
    const hasLeft = leavePort(formerPort)
    const endKeeping = keepPort(isSamePort ? formerPort : undefined, portOwner)
    let isReleased = false
    function release(): void {
      signal.throwIfAborted()
      if (!former || isReleased) return
      isReleased = true
      inBackground(retire(former).finally(hasLeft), () => logger.error('the former input side could not be closed'))
    }
    try {
      input = await createInput(component, port, release)
      await input?.side.start(subscription, signal)
      signal.throwIfAborted()
    } catch (error) {
      if (input && input !== former) await retire(input)
      input = former
      if (former && isReleased && !closed.aborted) await reopen(former, port, closed)
      throw locateError(error, placesOf(component.source, 'input'))
    } finally {
      endKeeping()
      if (!isReleased) hasLeft()
      // The new side keeps `release`: each side would keep all those before it.
      former = undefined
    }
  }

  /** Until it is open, or another update is, health says that there is no listener. */
  async function reopen(former: Open<InputSide>, port: number | undefined, closed: AbortSignal): Promise<void> {
    try {
      input = await createInput(former.component, port, () => closed.throwIfAborted())
      await input?.side.start('background', closed)
      logger.warn('the former input side runs again')
    } catch (error) {
      if (input && input !== former) await retire(input)
      input = former
      logger.error(`the former input side could not be opened again: ${messageOf(error)}`)
    }
  }

  async function createOutput(component: ParsedComponent): Promise<Open<OutputSide> | undefined> {
    const { metadata } = component
    if (!metadata.output) return undefined
    const placeOf: PlaceOf = (code) => placesOf((opened?.component ?? component).source, 'output')(code)
    let opened: Open<OutputSide> | undefined
    try {
      const { createOutputSide } = await import('./output-side.ts')
      opened = { side: await createOutputSide(metadata.output, sideOptions(component, placeOf)), component }
      return opened
    } catch (error) {
      throw locateError(error, placeOf)
    }
  }

  /** Closes a replaced output side once its calls are settled: each has a time limit of its own. */
  async function leave(before: Open<OutputSide>): Promise<void> {
    leaving.add(before)
    await before.side.settled()
    await before.side.close()
    leaving.delete(before)
  }

  function logChange(side: Side, { metadata, properties }: ParsedComponent): void {
    const before = (side === 'input' ? input : output)?.component
    if (!before) return
    const goesOn = side === 'input' ? (metadata.input ?? metadata.pull) : metadata.output
    const what = goesOn ? 'starts anew' : 'ends'
    logger.info(`${changedFields(before.properties, properties)} changed: the ${side} side ${what}`)
  }

  async function change(component: ParsedComponent, { sides = bothSides, ...how }: Change): Promise<void> {
    how.signal.throwIfAborted()
    const keeps = { input: keepsInput(component), output: keepsOutput(component) }
    const starting = sides.filter((side) => !keeps[side])
    for (const side of starting) logChange(side, component)
    const former = output
    const next = starting.includes('output') ? await createOutput(component) : former
    // Before there is a listener: a handler may publish.
    output ??= next
    try {
      if (starting.includes('input')) await replaceInput(component, how)
    } catch (error) {
      output = former
      if (next !== former) await next?.side.close()
      throw error
    }
    output = next
    if (former && former !== next)
      inBackground(leave(former), () => logger.error('the former output side could not be closed'))
    if (input && sides.includes('input')) input.component = component
    if (output && sides.includes('output')) output.component = component
  }

  async function closeInput(): Promise<void> {
    const before = input
    input = undefined
    if (before) retire(before).catch(() => {})
    await Promise.all([...draining, before].map((one) => one?.ending))
  }

  async function closeOutput(): Promise<void> {
    const all = [output, ...leaving]
    output = undefined
    await Promise.all(all.map((one) => one?.side.close()))
  }

  /** Ends the changes under way, takes no new event, waits for the handlers under way, and only then ends the output side. */
  function close(sides: readonly Side[] = bothSides): Promise<void> {
    closing.abort()
    closing = new AbortController()
    const hasLeft = leavePort(sides.includes('input') ? input?.side.address()?.port : undefined)
    return inTurn(async () => {
      if (sides.includes('input')) await closeInput().finally(hasLeft)
      if (sides.includes('output')) await closeOutput()
    })
  }

  return {
    /**
     * Opens sides by the metadata; replaces those that are open, and closes those that are configured no more. A side with the same
     * metadata goes on. One change at a time.
     *
     * @throws BindingError of a side's start, CLOSED by a `close` meanwhile, or the reason of `signal`; then the sides are as before
     */
    async change(component: ParsedComponent, { signal: given, ...how }: InitOptions): Promise<void> {
      const closed = closing.signal
      const signal = given ? AbortSignal.any([given, closed]) : closed
      try {
        await inTurn(() => change(component, { ...how, signal, closed }))
        // By a close between the end of opening and here.
        closed.throwIfAborted()
      } catch (error) {
        throw closed.aborted ? closedError() : error
      }
    },
    read(next: EventHandler | undefined): void {
      handler = next
      input?.side.handlerChanged()
    },
    endpoints,
    address: () => (input?.hasEnded ? undefined : input?.side.address()),
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
      const { side, component } = output
      try {
        const { ids, count, requestId } = await side.publish(payload, call)
        const known = requestId === undefined ? {} : { requestId }
        return { ids, ...known, metadata: { ids: JSON.stringify(ids), count: String(count), ...known } }
      } catch (error) {
        throw locateError(error, placesOf(component.source, 'output'))
      }
    },
    health: (): Health => decideHealth({ input: input?.side.health(), output: output?.side.health() }),
    /** Whether a handler runs. Until it returns it may publish, also while its side opens or closes. */
    isHandling: () => [input, ...draining].some((one) => one?.side.isHandling()),
    close,
  }
}

export const closedError = (): BindingError =>
  new BindingError('CLOSED', { what: 'the binding is closed', fix: 'make a new Binding and init it' })

/** @throws BindingError OPERATION_UNSUPPORTED; TypeError where it is not a text */
export function checkOperation(operation: unknown): asserts operation is string {
  if (typeof operation !== 'string') {
    throw new TypeError("the operation must be a text: write invoke('create', payload, { metadata })")
  }
  if (operations.includes(operation)) return
  throw new BindingError('OPERATION_UNSUPPORTED', {
    what: `operation ${JSON.stringify(operation.slice(0, 64))} is not one of ours`,
    fix: `use ${operations.join(', ')}, in lower case`,
  })
}
