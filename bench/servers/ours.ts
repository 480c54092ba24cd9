// Our binding as a host holds it: one component, or several in one process. The package's own build, as users have it.
import { Binding, type Endpoints, type Logger } from 'eventgrid-binding'
import { answerLines, say, setup } from './json-lines.ts'

/** What `servers/ours.ts` is started with. */
export interface OursSetup {
  readonly endpoints: Endpoints
  /** One component's metadata each. */
  readonly components: readonly Readonly<Record<string, string>>[]
  /** Ready when the event subscriptions stand, or as soon as a listener is up. @default 'standing' */
  readonly readyWhen?: 'standing' | 'listening'
}

const { endpoints, components, readyWhen = 'standing' } = setup<OursSetup>()
const silent = () => {}
const logger: Logger = {
  debug: silent,
  warn: silent,
  error: silent,
  info(message, fields) {
    if (readyWhen === 'listening' && message.startsWith('listening')) say({ ports: [fields?.port] })
  },
}
let events = 0
const onEvent = async () => {
  events++
}
const bindings = components.map(() => new Binding({ endpoints, logger, onEvent }))
await Promise.all(bindings.map((binding, index) => binding.init(components[index])))
if (readyWhen === 'standing') say({ ports: bindings.map((binding) => binding.address()?.port) })
await answerLines(() => ({ events }))
