/** The sides of one component: opened from parsed metadata, replaced and closed each by itself, one change at a time. */

import type { Side } from '../../core/component.ts'
import { BindingError } from '../../core/errors.ts'
import type { FastifyHook } from '../../listener/http/host-plugins.ts'
import { leavePort } from '../../listener/http/port-handover.ts'
import { secretsOf } from '../../metadata/typed/secrets-of.ts'
import { createTurns } from '../../support/work/in-turn.ts'
import type { InitOptions } from '../binding-component.ts'
import type { SideOptions } from '../side-options.ts'
import type { ParsedComponent } from './opened-side.ts'
import { ReplaceableInput } from './replaceable-input.ts'
import { ReplaceableOutput } from './replaceable-output.ts'

const bothSides: readonly Side[] = ['input', 'output']

export class ComponentSides {
  readonly input: ReplaceableInput
  readonly output: ReplaceableOutput
  readonly #inTurn = createTurns()
  /** Aborts the changes under way; each `close` does. */
  #closing = new AbortController()

  /** @param options asked each time that a side is opened; its logger must not throw */
  constructor(options: () => SideOptions, fastify: FastifyHook | undefined) {
    const open = () => [this.input, this.output].flatMap((side) => side.component() ?? [])
    const secrets = () => open().flatMap(({ metadata }) => secretsOf(metadata))
    this.input = new ReplaceableInput(() => ({ ...options(), secrets }), fastify)
    this.output = new ReplaceableOutput(() => ({ ...options(), secrets }))
  }

  /**
   * Opens sides by the metadata; replaces those that are open, and closes those that are configured no more. A side with the same
   * metadata goes on.
   *
   * @throws BindingError of a side's start, CLOSED by a `close` meanwhile, or the reason of `signal`; then the sides are as before
   */
  async change(component: ParsedComponent, options: InitOptions): Promise<void> {
    const { sides = bothSides, subscription = 'background', signal: given } = options
    const closed = this.#closing.signal
    const signal = given ? AbortSignal.any([given, closed]) : closed
    const changeInput = async () => {
      if (sides.includes('input')) await this.input.replace(component, { subscription, signal, closed })
    }
    try {
      await this.#inTurn(async () => {
        signal.throwIfAborted()
        if (sides.includes('output')) await this.output.replace(component, changeInput)
        else await changeInput()
      })
      // By a close between the end of opening and here.
      closed.throwIfAborted()
    } catch (error) {
      throw closed.aborted ? closedError() : error
    }
  }

  /** Ends the changes under way, takes no new event, waits for the handlers under way, and only then ends the output side. */
  close(sides: readonly Side[] = bothSides): Promise<void> {
    this.#closing.abort()
    this.#closing = new AbortController()
    const hasLeft = leavePort(sides.includes('input') ? this.input.address()?.port : undefined)
    return this.#inTurn(async () => {
      if (sides.includes('input')) await this.input.close().finally(hasLeft)
      if (sides.includes('output')) await this.output.close()
    })
  }
}

export const closedError = (): BindingError =>
  new BindingError('CLOSED', { what: 'the binding is closed', fix: 'make a new Binding and init it' })
