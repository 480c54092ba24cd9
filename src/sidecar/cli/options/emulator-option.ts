/** `--emulator` and `--ca` lead a command to an emulator, whose endpoints and certificate are fetched. */
import { isIP } from 'node:net'
import { type Endpoints, endpointsFromEnvironment } from '../../../core/endpoints.ts'
import { type OptionTexts, text, UsageError, wrongOption } from '../../../support/command-line/options.ts'
import { ownCommand } from '../../../support/command-line/run-command.ts'
import { readRegularFileSync } from '../../../support/files/regular-file.ts'
import { isLoopback } from '../../../support/net/hosts.ts'
import { probe } from '../../../support/net/probe.ts'
import { messageOf } from '../../../support/process/error-code.ts'
import { isRecord, readJson } from '../../../support/text/json-text.ts'

export const defaultEmulator = 'https://127.0.0.1:4430'

/** Where an emulator tells its endpoints and its certificate authority, over http and over https. */
const endpointsPath = '/emulator/endpoints'

const limitMs = 5_000

export const emulatorOptions = {
  emulator: text(
    '[URL]',
    `use a running "emulate" in place of Azure (default: ${defaultEmulator}, the URL of its "ready:" line)`,
  ),
  ca: text('FILE', "the emulator's certificate authority, where the emulator is not on this machine"),
}

export interface EmulatorAddress {
  readonly url: string
  readonly ca: string | undefined
}

/** @throws UsageError for `--ca` alone */
export function readEmulatorOptions(values: OptionTexts<typeof emulatorOptions>): EmulatorAddress | undefined {
  const { emulator: url, ca } = values
  if (url !== undefined) return { url, ca }
  if (ca === undefined) return undefined
  throw wrongOption('--ca needs --emulator')
}

/** Gives `--emulator` without a value the value {@link defaultEmulator}: `parseArgs` has no optional values. */
export function withEmulatorUrl(args: readonly string[]): readonly string[] {
  return args.map((argument, at) => {
    const next = args[at + 1]
    return argument === '--emulator' && (next === undefined || !looksLikeAddress(next))
      ? `--emulator=${defaultEmulator}`
      : argument
  })
}

/** Is this a URL, or what a user writes in its place: `localhost:4430`, `127.0.0.1`, `[::1]`? A text without a scheme is refused later. */
function looksLikeAddress(text: string): boolean {
  const [host = ''] = text.split('/')
  return (
    /^[a-z][a-z\d+.-]*:\/\//i.test(text) || isIP(host) !== 0 || /^(localhost|\[[\da-f:.]+\]|.+:\d{1,5})$/i.test(host)
  )
}

/**
 * The endpoints of a running emulator. Its certificate authority comes from a file, or from the emulator itself. An emulator
 * on another machine needs the file: its own answer can't be verified.
 *
 * @throws UsageError for an invalid URL, and an Error where no emulator answers
 */
export async function emulatorEndpoints({ url, ca: caFile }: EmulatorAddress): Promise<Required<Endpoints>> {
  const asked = URL.parse(url)
  if (!asked || !/^https?:$/.test(asked.protocol)) {
    const example = `such as ${defaultEmulator}, not ${JSON.stringify(url)}`
    throw wrongOption(`--emulator takes the URL of the emulator, ${example}`)
  }
  const { origin } = asked
  if (caFile === undefined && !isLoopback(asked.hostname)) {
    throw new UsageError(`--emulator ${origin} is not on this machine: give its certificate authority by --ca FILE`)
  }
  const given = caFile === undefined ? undefined : readAuthority(caFile)
  if (given !== undefined && asked.protocol === 'https:') {
    return { resourceManager: origin, authorityHost: origin, ca: given, topics: origin }
  }
  const answer = await ask(asked)
  const { resourceManager, authorityHost, ca } = isRecord(answer) ? answer : {}
  if (typeof resourceManager !== 'string' || typeof authorityHost !== 'string' || typeof ca !== 'string') {
    throw new Error(`the server at ${origin} is not an emulator of eventgrid-binding`)
  }
  return { resourceManager, authorityHost, ca: given ?? ca, topics: resourceManager }
}

/** Where Azure is: an emulator where one is named, else as the environment says. */
export const endpointsOf = async (emulator: EmulatorAddress | undefined): Promise<Endpoints> =>
  emulator ? emulatorEndpoints(emulator) : endpointsFromEnvironment(process.env)

function readAuthority(file: string): string {
  try {
    return readRegularFileSync(file)
  } catch (error) {
    throw new UsageError(`--ca: ${messageOf(error)}`, { cause: error })
  }
}

/** Asks without verifying the certificate: the answer holds the authority to trust, and comes from this machine. */
async function ask(emulator: URL): Promise<unknown> {
  const url = new URL(endpointsPath, emulator)
  const signal = AbortSignal.timeout(limitMs)
  try {
    return readJson((await probe({ url, method: 'GET', takesAnyCertificate: true, signal })).body)
  } catch (error) {
    const remedy = `name another by --emulator URL, or start one: ${ownCommand('eventgrid-binding')} emulate`
    throw new Error(`no emulator answers at ${emulator.origin}: ${remedy}`, { cause: error })
  }
}
