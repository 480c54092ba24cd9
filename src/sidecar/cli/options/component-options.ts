/** Options of several commands: where components are, whose files are read and loaded here, and durations. */
import { componentTypes } from '../../../metadata/component/component-definition.ts'
import { type PathsRead, readPaths } from '../../../metadata/component/component-folder.ts'
import { BrokenRule } from '../../../metadata/fields/faults.ts'
import { parseDuration } from '../../../metadata/fields/rules.ts'
import { type Loaded, type LoadOptions, loadFiles, readComponentFiles } from '../../../metadata/load/load-files.ts'
import { parseSecrets, readSecretsText } from '../../../metadata/load/secret-stores.ts'
import { type CallerWords, type GivenSecrets, sortRecord } from '../../../metadata/load/secrets.ts'
import { text, texts, wrongOption } from '../../../support/command-line/options.ts'
import { messageOf } from '../../../support/process/error-code.ts'

const defaultComponents = './components'

export interface ComponentPaths {
  readonly components: readonly string[]
  /** Empty: there is none, and components that have `scopes` are left out. */
  readonly appId: string
  /** The JSON file for `secretKeyRef`. */
  readonly secrets: string | undefined
  /** The one component that is meant. @default all */
  readonly component?: string | undefined
}

export const componentOptions = {
  components: texts('DIR|FILE', `component YAML; repeatable (default ${defaultComponents})`),
  'app-id': text('NAME', 'id of the application: components whose scopes do not name it are left out'),
  secrets: text('FILE', 'JSON file for secretKeyRef, beside the local secret stores among the components'),
}

const { components, ...otherOptions } = componentOptions
/** The options of commands that may be asked for a single component. */
export const chosenOptions = { components, component: text('NAME', 'this one only'), ...otherOptions }

export function readComponentOptions(values: {
  readonly components?: string[] | undefined
  readonly 'app-id'?: string | undefined
  readonly secrets?: string | undefined
  readonly component?: string | undefined
}): ComponentPaths {
  const { components = [defaultComponents], 'app-id': appId = '', secrets, component } = values
  // A text in place of the path would be printed where the file is not found.
  if (secrets?.includes('{')) throw wrongOption('--secrets takes the path of a JSON file, not its text')
  return { components, appId, secrets, component }
}

/** The files that the options name, as they were read. */
export interface ComponentSources {
  readonly paths: PathsRead
  /** The text of `--secrets`, or why the file can't be read; `undefined` without that option. */
  readonly secrets: string | Error | undefined
}

export async function readSources({ components, secrets }: ComponentPaths): Promise<ComponentSources> {
  const text = secrets === undefined ? undefined : readSecretsText(secrets)
  return { paths: await readPaths(components), secrets: await text }
}

export function loadSources(
  { paths, secrets: text }: ComponentSources,
  { appId, secrets }: ComponentPaths,
  options: Pick<LoadOptions, 'provisioning'> = {},
): Loaded {
  const { env } = process
  const given = givenBy(secrets, text)
  const all = { ...options, env, appId, given, words, types: componentTypes }
  return loadFiles(readComponentFiles(paths), all, paths)
}

function givenBy(file: string | undefined, text: string | Error | undefined): GivenSecrets {
  if (file === undefined || text === undefined) return sortRecord({})
  try {
    return sortRecord(parseSecrets(file, text))
  } catch (error) {
    const issue = { kind: 'secretStore', rule: `--secrets: ${messageOf(error)}` } as const
    return { kind: 'unreadable', issue, ask: () => undefined }
  }
}

const words: CallerWords = {
  appId: 'give --app-id NAME',
  secret: (shape) =>
    `put ${shape} into a JSON file, and name that by --secrets FILE or in a secretstores.local.file component`,
}

/** The duration of an option, of 1 s to 24 h; `undefined` without that option. Throws a UsageError. */
export function readDuration(option: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  try {
    return parseDuration(value, { atLeast: '1s', atMost: '24h' })
  } catch (error) {
    if (!(error instanceof BrokenRule)) throw error
    throw wrongOption(`--${option} ${error.rule}, like 2m, not ${JSON.stringify(value)}`)
  }
}
