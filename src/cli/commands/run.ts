import { join, normalize } from 'node:path'
import { BindingError } from '../../core/errors.ts'
import { Secret } from '../../core/secret.ts'
import { createAppChannel } from '../../host/app-channel.ts'
import { type AppWatch, watchApp } from '../../host/app-watch.ts'
import { createBindingsApi } from '../../host/bindings-api.ts'
import { createHost } from '../../host/host.ts'
import { watchFolder } from '../../host/watch-folder.ts'
import { type FolderTexts, otherFiles, readFolder } from '../../metadata/component-folder.ts'
import { type Loaded, loadComponents } from '../../metadata/load-components.ts'
import { createPlaceholders } from '../../metadata/placeholders.ts'
import { readSecretsFile } from '../../metadata/secret-stores.ts'
import { isLoopback } from '../../support/loopback.ts'
import type { Command } from '../command.ts'
import { listenFailure } from '../listen-failure.ts'
import { type RunOptions, readRunOptions, runDefaults } from '../run-options.ts'
import { awaitEnd } from '../signals.ts'
import type { Terminal } from '../terminal.ts'
import { terminalLogger } from '../terminal-logger.ts'
import { UsageError } from '../usage-error.ts'
import { packageVersion } from '../version.ts'

const help = `Usage: eventgrid-binding run --components DIR [--app-port N] [options]

Runs the components of a folder beside an application, and speaks Dapr's HTTP API for bindings: for machines without Dapr.

Options:
  --components DIR              folder of component YAML files; a change takes effect at once, a broken file does not
  --app-port N                  where the application listens; events are posted to /{component}, or to its route
                                (without: components only publish, and events are answered 503 and come again)
  --app-address HOST            (default ${runDefaults.appAddress})
  --app-id NAME                 components whose scopes do not name it are left out
  --app-max-concurrency N       requests to the application at once (default ${runDefaults.appMaxConcurrency})
  --app-health-check-path PATH  ask the application by GET whether it is well; while it is not, events wait
  --app-health-probe-interval S seconds between two such questions (default ${runDefaults.appHealthProbeInterval})
  --app-health-threshold N      failures in a row before it counts as unwell (default ${runDefaults.appHealthThreshold})
  --http-port N                 Dapr's HTTP API (default ${runDefaults.httpPort}; 0 takes a free one)
  --http-address HOST           (default ${runDefaults.httpAddress}: this machine only)
  --secrets FILE                JSON file for secretKeyRef, such as { "event-grid": { "clientSecret": "..." } }, beside the local
                                secret stores of the folder
  -h, --help                    this text

Environment: AZURE_RESOURCE_MANAGER_URL, AZURE_AUTHORITY_HOST and NODE_EXTRA_CA_CERTS point it at the emulator. APP_API_TOKEN is sent
to the application as dapr-api-token; callers of the API must bring DAPR_API_TOKEN in the same way.

A first SIGINT or SIGTERM takes no more events and waits for those that the application has; a second one ends at once.
`

const mostNamed = 10

/** `eventgrid-binding run`. */
export const run: Command = { help, run: runHost }

/** Runs until a signal, or a request to shut down. Throws a UsageError for wrong options or components. */
async function runHost(args: readonly string[], terminal: Terminal): Promise<number> {
  const options = readRunOptions(args)
  const { env } = process
  const ending = awaitEnd()
  // The folder may be on a network mount that hangs.
  const texts = await Promise.race([textsOf(options), ending.asked])
  if (typeof texts === 'string') return 0
  const load = loader(options)
  const unread = await unreadNotes(options)
  let loaded = firstLoad(() => load(texts), unread)
  const { app } = options
  let watch: AppWatch | undefined
  const onGone = () => watch?.gone()
  const channel = app && createAppChannel({ ...app, token: secretOf(env.APP_API_TOKEN), onGone })
  const host = createHost({ channel, loggerOf: (component) => terminalLogger(terminal, component) })
  const waiting = new Set<'components' | 'app'>(channel ? ['components', 'app'] : ['components'])
  const api = createBindingsApi({
    host,
    app,
    version: packageVersion(),
    appId: options.appId,
    listeningOn: options.http.host,
    token: secretOf(env.DAPR_API_TOKEN),
    notReady: () => [...waiting],
    onShutdown: () => ending.ask('shutdown'),
  })
  const undo: (() => unknown)[] = [() => channel?.close(), () => api.close(), () => host.close()]
  async function end(): Promise<void> {
    for (const stop of undo.splice(0).toReversed()) await stop()
  }

  let wasUp = false
  function appChanged(up: boolean): void {
    if (up) waiting.delete('app')
    // As daprd has it, an application that was there and is gone takes readiness away only
    // where its health is asked for.
    else if (options.health) waiting.add('app')
    if (up) terminal.line(`the application is ${wasUp ? 'back' : 'up'} on port ${app?.port}`)
    else if (options.health) terminal.line('the application is unwell: events wait')
    else
      terminal.line(
        `the application is gone: nothing listens on port ${app?.port}; events are answered 503 and come again`,
      )
    wasUp = true
    host.appIsUp(up)
  }

  function appMissing(): void {
    const at = options.health ? `is not well at ${options.health.path} yet` : `does not listen on port ${app?.port} yet`
    terminal.line(`the application ${at}: until then events are answered 503 and come again`)
  }

  async function folderChanged(state: FolderTexts): Promise<void> {
    try {
      const after = load(state, loaded)
      showAll(
        terminal,
        after.notes.filter((note) => !loaded.notes.includes(note)),
      )
      showAll(terminal, after.faults)
      if (after.faults.length > 0) terminal.line('what these files said before stays in force')
      else if (loaded.faults.length > 0) terminal.line('every component file is valid again')
      loaded = after
      await host.change(after)
    } catch (error) {
      terminal.line(`the components could not be read again: ${messageOf(error)}`)
    }
  }

  try {
    const url = await listen(api, options.http)
    if (!isLoopback(options.http.host) && !env.DAPR_API_TOKEN) {
      terminal.line(
        `warning: --http-address ${options.http.host} without DAPR_API_TOKEN: every client that reaches ${url} may publish and shut this process down`,
      )
    }
    showAll(terminal, [...loaded.notes, ...unread])
    if (loaded.components.size === 0) terminal.line(`${options.components} holds no component of ours yet`)
    await host.start(loaded)
    waiting.delete('components')
    const read = () => readFolder(options.components)
    const stopWatching = watchFolder({ read, known: texts, changed: folderChanged })
    // Not awaited: while a change drains one component, the others would go on taking events; the host's own end awaits it.
    undo.push(() => void stopWatching())
    if (channel) {
      watch = watchApp({ channel, health: options.health, changed: appChanged, missing: appMissing })
      undo.push(watch.stop)
    }
    terminal.line(`ready: ${url}/v1.0 speaks Dapr's HTTP API for bindings`)
    const why = await ending.asked
    waiting.add('components')
    terminal.line(`${why}: no more events are taken; waiting for those that the application has`)
    await end()
    terminal.line('ended')
    return 0
  } catch (error) {
    if (error instanceof BindingError && error.code === 'METADATA_INVALID') {
      throw new UsageError(error.message, { cause: error })
    }
    throw error
  } finally {
    await end()
  }
}

async function textsOf({ components }: RunOptions): Promise<FolderTexts> {
  try {
    return await readFolder(components)
  } catch (error) {
    throw new UsageError(`--components ${components} can't be read: ${messageOf(error)}`, { cause: error })
  }
}

/** Somebody may take them for components; a secrets file among them is read as what it is. */
async function unreadNotes({ components, secrets }: RunOptions): Promise<readonly string[]> {
  const names = await otherFiles(components).catch(() => [])
  const files = names.map((name) => join(components, name)).filter((file) => file !== normalize(secrets ?? ''))
  const notes = files
    .slice(0, mostNamed)
    .map((file) => `${file} is not read as a component: its name does not end with .yaml or .yml`)
  return files.length > mostNamed ? [...notes, `and ${files.length - mostNamed} more files`] : notes
}

function loader({ appId, secrets }: RunOptions) {
  const { env } = process
  const fill = createPlaceholders({ appId, env })
  return (texts: FolderTexts, before?: Loaded): Loaded =>
    loadComponents(texts, {
      appId,
      before,
      env,
      fill,
      excerptWidth: process.stderr.columns || 120,
      secrets: () => (secrets === undefined ? {} : readSecretsFile(secrets)),
    })
}

/** At the start everything must be right: there is nothing yet to fall back on. */
function firstLoad(load: () => Loaded, unread: readonly string[]): Loaded {
  const loaded = load()
  if (loaded.faults.length > 0) throw new UsageError([...loaded.faults, ...loaded.notes, ...unread].join('\n'))
  return loaded
}

async function listen(api: ReturnType<typeof createBindingsApi>, at: RunOptions['http']): Promise<string> {
  try {
    return await api.listen({ host: at.host, port: at.port })
  } catch (error) {
    throw listenFailure(error, 'http', at)
  }
}

function showAll(terminal: Terminal, texts: readonly string[]): void {
  for (const line of texts.flatMap((text) => text.split('\n'))) terminal.line(line)
}

const secretOf = (text: string | undefined) => (text ? new Secret(text) : undefined)
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
