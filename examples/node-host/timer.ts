/** The binding of another vendor, written against the types of `eventgrid-binding` alone: an event now and then, and `create` makes one. */
import { randomUUID } from 'node:crypto'
import type {
  BindingComponent,
  BindingComponentOptions,
  ComponentDescriptor,
  ComponentHealth,
  EventHandler,
  GivenComponent,
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
  private handler: EventHandler | undefined

  constructor(options: BindingComponentOptions = {}) {
    this.handler = options.onEvent
  }

  async init({ name, properties }: GivenComponent): Promise<void> {
    const given = properties.everyMs
    const everyMs = Number(typeof given === 'object' ? given.reveal() : given)
    if (!(everyMs >= 1)) throw new Error(`component ${name}: everyMs must be a number of milliseconds`)
    clearInterval(this.timer)
    this.timer = setInterval(() => this.tell('tick').catch(() => {}), everyMs)
  }

  update(component: GivenComponent): Promise<void> {
    return this.init(component)
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
    return this.timer ? { status: 'healthy', input: { status: 'healthy', reasons: [] } } : { status: 'unhealthy' }
  }

  address(): undefined {}

  async close(): Promise<void> {
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
