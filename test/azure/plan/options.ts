/** The options of the command, each checked before anything is made. */
import {
  flag,
  optionLines,
  parseOptions,
  readPort,
  text,
  UsageError,
  wrongOption,
} from '../../../src/support/command-line/options.ts'
import { messageOf } from '../../../src/support/process/error-code.ts'
import type { EmulatorAddress } from '../wire/target.ts'

const known = {
  'resource-group': text('NAME', 'an empty resource group in which all is made, where you may not make one'),
  location: text('REGION', 'region of what is made (default: westeurope)'),
  'public-url': text('URL', 'https://HOST of a tunnel to --port: for all that Event Grid pushes'),
  port: text('N', 'where this tool listens for the tunnel (default: 9000)'),
  application: text('ID', 'id or id URI of an Entra application that deliveries are for: the tokens of deliveries'),
  only: text('PATTERN', 'only probes whose fact or question fits this regular expression'),
  record: text('DIR', 'keep each exchange there, without ids, keys, tokens and host names'),
  report: text('FILE', 'where the report is written (default: azure-report.json)'),
  keep: flag('delete nothing at the end'),
  clean: flag('delete the resource groups that runs have made and left, older than a day'),
  yes: flag('ask nothing'),
  emulator: text('URL', 'an emulator in place of Azure, as for check'),
  ca: text('FILE', "the emulator's certificate authority, where the emulator is not on this machine"),
}

export const help = `Usage: npm run test:azure -- [options]

Asks Azure itself whether what this project knows of it is true. Says first what
it makes, in a resource group of its own, and what that costs at most. Deletes
that group at the end, also after a failure or Ctrl-C. Writes azure-report.json.

Options:
${optionLines(22, known)}

Environment: AZURE_SUBSCRIPTION_ID, and an account: az login, or what else the
DefaultAzureCredential of Azure's libraries finds.
Exit codes: 0 all that was asked holds, 1 something differs, or could not be
made or deleted, 2 wrong usage or no account, 130 or 143 a signal ended it.
`

export interface RunOptions {
  readonly subscriptionId: string
  /** Undefined: a group of the run's own. */
  readonly resourceGroup: string | undefined
  readonly location: string
  /** Without a slash at its end. */
  readonly publicUrl: string | undefined
  readonly port: number
  readonly application: string | undefined
  readonly only: RegExp | undefined
  readonly record: string | undefined
  readonly report: string
  readonly keep: boolean
  readonly clean: boolean
  readonly yes: boolean
  readonly emulator: EmulatorAddress | undefined
}

/** Reads arguments and environment. Throws a UsageError that names what is missing, or the first that is wrong. */
export function readOptions(args: readonly string[], env: Readonly<Record<string, string | undefined>>): RunOptions {
  const values = parseOptions(args, known)
  const { AZURE_SUBSCRIPTION_ID: subscriptionId = '' } = env
  require(subscriptionId !== '', 'AZURE_SUBSCRIPTION_ID is missing in the environment (az account show --query id)')
  const { 'resource-group': resourceGroup, location = 'westeurope', keep = false, clean = false } = values
  require(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(subscriptionId), 'AZURE_SUBSCRIPTION_ID must be a GUID')
  const isName = resourceGroup === undefined || /^[\w.()-]{0,89}[\w()-]$/.test(resourceGroup)
  require(isName, '--resource-group takes the name of a resource group')
  require(/^[a-z][a-z\d]{2,29}$/.test(location), '--location takes a region as Azure writes it, like westeurope')
  if (keep && clean) throw wrongOption('--keep and --clean contradict each other')
  if (clean && resourceGroup !== undefined)
    throw wrongOption('--clean takes no --resource-group: it deletes groups that runs have made')
  const { emulator: url, ca, application, record, report = 'azure-report.json', yes = false } = values
  if (ca !== undefined && url === undefined) throw wrongOption('--ca needs --emulator')
  const publicUrl = publicUrlOf(values['public-url'])
  if (application !== undefined && publicUrl === undefined) throw wrongOption('--application needs --public-url')
  if (values.port !== undefined && publicUrl === undefined) throw wrongOption('--port needs --public-url')
  return {
    ...{ subscriptionId, resourceGroup, location, publicUrl, application, record, report, keep, clean, yes },
    port: readPort('port', values.port) ?? 9000,
    only: patternOf(values.only),
    emulator: url === undefined ? undefined : { url, ca },
  }
}

function require(holds: boolean, complaint: string): void {
  if (!holds) throw wrongOption(complaint)
}

function publicUrlOf(given: string | undefined): string | undefined {
  if (given === undefined) return undefined
  const url = URL.parse(given)
  const isPlain = url?.protocol === 'https:' && url.href === `${url.origin}/`
  if (!url || !isPlain) throw wrongOption('--public-url takes https://HOST, without path, query or password')
  return url.origin
}

function patternOf(given: string | undefined): RegExp | undefined {
  if (given === undefined) return undefined
  if (given.length > 200) throw wrongOption('--only takes at most 200 characters')
  try {
    return new RegExp(given, 'i')
  } catch (error) {
    throw new UsageError(`--only takes a regular expression: ${messageOf(error)}`, { showHelp: true, cause: error })
  }
}
