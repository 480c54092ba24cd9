import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Azure } from './azure.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import type { MemoryLimit } from './memory-limit.ts'

/** A topic to publish to. */
export interface Topic {
  readonly endpoint: string
  readonly ca: string
  readonly key: string
}

/** What the command needs to find Azure, and how it is started. */
export interface CommandWorld {
  readonly azure: Azure
  readonly topic: Topic
  /** What is started. @default the file that npm links */
  readonly program?: readonly [string, ...string[]]
  /** Flags of Node. */
  readonly nodeFlags: readonly string[]
  /** @default no limit */
  readonly memoryLimit?: MemoryLimit
}

export const packageFile = (path: string) => fileURLToPath(new URL(path, import.meta.resolve('eventgrid-binding')))

export const outputMetadata = ({ endpoint, key }: Topic) => ({ topicEndpoint: endpoint, accessKey: key })

/** The text of a file with one component, `orders`. JSON is YAML. */
export function componentFile(of: {
  readonly type: string
  readonly metadata: Readonly<Record<string, string>>
}): string {
  const metadata = Object.entries(of.metadata).map(([name, value]) => ({ name, value }))
  const head = { apiVersion: 'dapr.io/v1alpha1', kind: 'Component', metadata: { name: 'orders' } }
  return JSON.stringify({ ...head, spec: { type: of.type, version: 'v1', metadata } })
}

/** A folder with a short path, for sockets, that goes with what is in it. */
export async function makeFolder(stack: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'eb-bench-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Starts the program as users start it. */
async function startShipped(
  { azure, topic, nodeFlags, memoryLimit, program = [packageFile('./sidecar/cli/main.js')] }: CommandWorld,
  args: readonly string[],
  ready: () => boolean | Promise<boolean>,
  stack: AsyncDisposableStack,
): Promise<Daemon> {
  const { resourceManager, authorityHost, ca } = azure.ready.endpoints
  const [command, ...programArgs] = program
  const trusted = join(await makeFolder(stack), 'ca.pem')
  await writeFile(trusted, `${ca}\n${topic.ca}`)
  return stack.use(
    await startDaemon({
      command,
      args: [...programArgs, ...args],
      env: {
        // This very Node, whatever else is on the path.
        PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
        AZURE_RESOURCE_MANAGER_URL: String(resourceManager),
        AZURE_AUTHORITY_HOST: String(authorityHost),
        NODE_EXTRA_CA_CERTS: trusted,
        ...(nodeFlags.length > 0 && { NODE_OPTIONS: nodeFlags.join(' ') }),
      },
      core: 'server',
      ...(memoryLimit && { memoryLimit }),
      ready,
    }),
  )
}

/** Starts `eventgrid-binding serve`. */
export async function startServe(world: CommandWorld, stack: AsyncDisposableStack) {
  const sockets = join(await makeFolder(stack), 's')
  const socket = join(sockets, 'cloud.eventrouter.sock')
  const args = ['serve', '--sockets-folder', sockets, '--log-level', 'warn']
  const daemon = await startShipped(world, args, () => existsSync(socket), stack)
  return { daemon, sockets, socket }
}

/** Starts `eventgrid-binding run` with one component beside an application. */
export async function startRun(
  world: CommandWorld,
  { metadata, appPort, httpPort }: Readonly<{ metadata: Record<string, string>; appPort: number; httpPort: number }>,
  stack: AsyncDisposableStack,
): Promise<Daemon> {
  const components = join(await makeFolder(stack), 'components')
  await mkdir(components)
  await writeFile(join(components, 'orders.yaml'), componentFile({ type: 'bindings.cloud.eventrouter', metadata }))
  const args = ['run', '--components', components, '--app-port', String(appPort), '--http-port', String(httpPort)]
  const ready = async () =>
    (await fetch(`http://127.0.0.1:${httpPort}/v1.0/healthz`).catch(() => undefined))?.status === 204
  return await startShipped(world, args, ready, stack)
}
