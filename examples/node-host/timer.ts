/** The binding of another vendor, written against the types of `eventgrid-binding` alone: an event now and then, and `create` makes one. */
import { randomUUID } from 'node:crypto'
import type {
  BindingComponent,
  BindingComponentOptions,
  ComponentDescriptor,
  ComponentHealth,
  EventHandler,
  GivenComponent,
  InitOptions,
  SidesOption,
  UpdateOptions,
} from 'eventgrid-binding'

const about = 'Milliseconds between two events.'

export const timer: ComponentDescriptor = {
  types: ['bindings.example.timer'],
  version: 'v1',
  create: (options) => new TimerBinding(options),
  metadata: [{ name: 'everyMs', sides: ['input'], required: true, secret: false, about }],
}

class TimerBinding implements BindingComponent {
  private timer: NodeJS.Timeout | undefined
  private isOpen = false
  private handler: EventHandler | undefined

  constructor(options: BindingComponentOptions = {}) {
    this.handler = options.onEvent
  }

  /** Events begin with the input side. Nothing has to be made outside of the process, so `subscription` has no meaning here. */
  async init({ name, properties }: GivenComponent, { sides }: InitOptions = {}): Promise<void> {
    const given = properties.everyMs
    const everyMs = Number(typeof given === 'object' ? given.reveal() : given)
    if (!(everyMs >= 1)) throw new Error(`component ${name}: everyMs must be a number of milliseconds`)
    this.isOpen = true
    if (sides && !sides.includes('input')) return
    clearInterval(this.timer)
    this.timer = setInterval(() => this.tell('tick').catch(() => {}), everyMs)
  }

  update(component: GivenComponent, options?: UpdateOptions): Promise<void> {
    return this.init(component, options)
  }

  read(handler: EventHandler | undefined): void {
    this.handler = handler
  }

  async invoke(_operation: string, payload: unknown) {
    return { metadata: { id: await this.tell(payload) } }
  }

  operations(): readonly string[] {
    return ['create']
  }

  health(): ComponentHealth {
    if (!this.isOpen) return { status: 'unhealthy' }
    return { status: 'healthy', ...(this.timer && { input: { status: 'healthy', reasons: [] } }) }
  }

  address(): undefined {}

  async close({ sides }: SidesOption = {}): Promise<void> {
    if (!sides) this.isOpen = false
    if (sides && !sides.includes('input')) return
    clearInterval(this.timer)
    this.timer = undefined
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  private async tell(data: unknown): Promise<string> {
    const cloudEvent = { specversion: '1.0', id: randomUUID(), source: '/timer', type: 'timer.event', data }
    const signal = AbortSignal.timeout(10_000)
    const bytes = Buffer.from(JSON.stringify(cloudEvent))
    await this.handler?.({ cloudEvent, data: bytes, contentType: 'application/cloudevents+json', metadata: {}, signal })
    return cloudEvent.id
  }
}
