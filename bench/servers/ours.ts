// Our binding as a host holds it: one component, or several in one process. The package's own build, as users have it.
import { Binding, type Endpoints } from 'eventgrid-binding'
import { answerLines, say, setup } from './json-lines.ts'

/** What `servers/ours.ts` is started with. */
export interface OursSetup {
  readonly endpoints: Endpoints
  /** One component's metadata each. */
  readonly components: readonly Readonly<Record<string, string>>[]
  /** Ready once the listener is up, or when the event subscription stands. @default 'wait' */
  readonly subscription?: 'wait' | 'background'
}

const { endpoints, components, subscription = 'wait' } = setup<OursSetup>()
const bindings = components.map(() => new Binding({ endpoints, onEvent: async () => {} }))
await Promise.all(bindings.map((binding, index) => binding.init(components[index], { subscription })))
say({ ports: bindings.map((binding) => binding.address()?.port) })
await answerLines(() => ({}))
