import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { text } from 'node:stream/consumers'
import type { Endpoints } from '../core/endpoints.ts'
import { isRecord } from '../support/is-record.ts'
import { isLoopback } from '../support/loopback.ts'
import { UsageError } from './usage-error.ts'

/** The URL of a running `emulate` that was given no other port. */
export const defaultEmulator = 'https://127.0.0.1:4430'

/** Where an emulator tells its endpoints and its certificate authority, over http and over https. */
const endpointsPath = '/page/endpoints'

const limitMs = 5_000

/**
 * `--emulator` may stand without a value, and then means {@link defaultEmulator}: `parseArgs` knows no such option. Of no
 * effect on other arguments.
 */
export function withEmulatorUrl(args: readonly string[]): readonly string[] {
  return args.map((argument, at) => {
    const next = args[at + 1]
    return argument === '--emulator' && (next === undefined || !/^https?:/i.test(next))
      ? `--emulator=${defaultEmulator}`
      : argument
  })
}

/**
 * The endpoints of a running emulator. Its certificate authority comes from a file, or from the emulator itself, which is
 * asked on this machine only: nobody else could vouch for it.
 *
 * @throws UsageError for what is no URL, and an Error where no emulator answers
 */
export async function emulatorEndpoints(url: string, caFile: string | undefined): Promise<Required<Endpoints>> {
  const asked = URL.parse(url)
  if (!asked || !/^https?:$/.test(asked.protocol)) {
    throw new UsageError(
      `--emulator takes the URL of the emulator, such as ${defaultEmulator}, not ${JSON.stringify(url)}`,
      { showHelp: true },
    )
  }
  if (caFile === undefined && !isLoopback(asked.hostname)) {
    throw new UsageError(
      `--emulator ${asked.origin} is not on this machine: give its certificate authority by --ca FILE`,
    )
  }
  const given = caFile === undefined ? undefined : readAuthority(caFile)
  if (given !== undefined && asked.protocol === 'https:') {
    return { resourceManager: asked.origin, authorityHost: asked.origin, ca: given }
  }
  const told = await ask(asked)
  const { resourceManager, authorityHost, ca } = isRecord(told) ? told : {}
  if (typeof resourceManager !== 'string' || typeof authorityHost !== 'string' || typeof ca !== 'string') {
    throw new Error(`what answers at ${asked.origin} is no emulator of eventgrid-binding`)
  }
  return { resourceManager, authorityHost, ca: given ?? ca }
}

function readAuthority(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`--ca: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

/** Over https, too, it is asked for what would make it trusted: what it says is taken from this machine alone. */
async function ask(emulator: URL): Promise<unknown> {
  const client = emulator.protocol === 'https:' ? https : http
  const options = { agent: false, rejectUnauthorized: false, signal: AbortSignal.timeout(limitMs), timeout: limitMs }
  try {
    const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
      client.get(new URL(endpointsPath, emulator), options, resolve).on('error', reject)
    })
    return JSON.parse((await text(answer)).slice(0, 65_536))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw new Error(
      `no emulator answers at ${emulator.origin}: start one by eventgrid-binding emulate, or name another by --emulator URL`,
      {
        cause: error,
      },
    )
  }
}
