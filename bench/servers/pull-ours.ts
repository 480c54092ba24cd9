// Pull delivery of our binding, as a host holds it. The package's own build, as users have it.
import { Binding, type Endpoints, type Logger } from 'eventgrid-binding'
import { say, setup } from './json-lines.ts'
import { answerTimedEvents, handle } from './timed-events.ts'

const { endpoints, metadata } = setup<{ endpoints: Endpoints; metadata: Readonly<Record<string, string>> }>()
const silent = () => {}
const logger: Logger = { debug: silent, info: silent, warn: silent, error: silent }
const binding = new Binding({ endpoints, logger, onEvent: async ({ cloudEvent }) => handle(cloudEvent) })
await binding.init(metadata)
say({})
await answerTimedEvents()
