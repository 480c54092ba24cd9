/** Public `loadComponents` and `parseComponents`: their options, and all faults thrown at once. */
import type { Component } from '../../core/component.ts'
import { checkLogger, type Logger, silentLogger, unfailing } from '../../core/logger.ts'
import { checkValues, mustBe, type OptionCheck } from '../../support/process/option-checks.ts'
import { isRecord } from '../../support/text/json-text.ts'
import { componentTypes } from '../component/component-definition.ts'
import { type ComponentFiles, readComponentFile, type SecretReference } from '../component/component-file.ts'
import { type PathsRead, readPaths } from '../component/component-folder.ts'
import { metadataInvalid } from '../fields/faults.ts'
import { loadFiles, readComponentFiles, takenDrafts } from './load-files.ts'
import type { Secrets } from './secret-stores.ts'
import {
  type CallerWords,
  type GivenSecrets,
  referencesOf,
  type SecretsByStore,
  sortAnswers,
  sortRecord,
} from './secrets.ts'

/** What {@link loadComponents} and {@link parseComponents} take from around the files. */
interface CommonOptions {
  /** What `envRef` refers to; also POD_NAME and NAMESPACE for the placeholders `{podName}` and `{namespace}`. @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>>
  /**
   * The id of your application: components whose `scopes` do not name it are left out, and `{appID}` in a value is replaced by it.
   * @default none: components of all applications are taken, and `{appID}` is a fault
   */
  readonly appId?: string
  /** For `{namespace}` in a value, which becomes `{namespace}.{appID}` as in daprd. @default NAMESPACE of `env`, else 'default' */
  readonly namespace?: string
  /**
   * The component types that you have a binding for, in any letter case. A component of another type is left out, and its references are
   * not resolved.
   * @default the types of this binding
   */
  readonly types?: readonly string[]
  /**
   * Gets a line for everything that is left out: a warning where a component of yours was probably meant, or a file is empty; else debug.
   * @default none
   */
  readonly logger?: Logger
}

/** What {@link loadComponents} takes from around the files. */
export interface LoadComponentsOptions extends CommonOptions {
  /**
   * What `secretKeyRef` refers to: secrets by name; by store, as `{ stores: { 'vault-a': { … } } }`; or a function, which is asked once
   * for each reference and gives `undefined` for an unknown secret. Where these have no answer, local secret stores among the files do.
   * @default none
   */
  readonly secrets?:
    | Secrets
    | SecretsByStore
    | ((reference: SecretReference) => string | undefined | Promise<string | undefined>)
}

/** What {@link parseComponents} takes from around the text. */
export interface ParseComponentsOptions extends CommonOptions {
  /** The file's name, for errors. @default '<text>' */
  readonly file?: string
  /** The same as for {@link loadComponents}, but a function has to answer at once. @default none */
  readonly secrets?: Secrets | SecretsByStore | ((reference: SecretReference) => string | undefined)
}

/**
 * The components of YAML files, references resolved and metadata validated; documents of another `kind` are left out. A folder gives its
 * `.yaml` and `.yml` files in the order of their names, but no hidden ones and no folders in it. A component that has a fault and says
 * `ignoreErrors` is left out; the logger gets its faults.
 *
 * Fields that the option `credential` of a binding replaces may be absent. Without that option `init` reports them.
 *
 * @param paths files and folders. A file that is named twice is read once
 * @throws BindingError METADATA_INVALID whose `issues` hold every fault of all files with file, line and column; of syntax errors only the
 *   first of a file. `kind` of an issue tells a reference that leads to nothing, a doubled name, and what can't be read.
 *   `details.components` are the components without a fault: a host may go on with them
 * @throws TypeError for an unknown option or an invalid value; and whatever the function `secrets` throws
 */
export async function loadComponents(
  paths: string | readonly string[],
  options: LoadComponentsOptions = {},
): Promise<readonly Component[]> {
  const all = [paths].flat()
  if (all.length === 0 || !isTexts(all)) throw new TypeError('the paths must be a path, or a list of at least one')
  checkValues('the options of loadComponents', options, loadOptions)
  const read = await readPaths(all)
  const files = readComponentFiles(read)
  const { secrets = {} } = options
  if (typeof secrets !== 'function') return componentsOf(files, sortRecord(secrets), options, read)
  const references = referencesIn(files, options)
  const answers = new Map(await Promise.all(references.map(async (one) => [one, await secrets(one)] as const)))
  const given = sortAnswers(references, (one) => answers.get(one))
  return componentsOf(files, given, options, read)
}

/**
 * The components of one YAML text, as {@link loadComponents} gives them. It may hold several documents.
 *
 * @throws as loadComponents does; and a TypeError for a value that is not text
 */
export function parseComponents(yamlText: string, options: ParseComponentsOptions = {}): readonly Component[] {
  if (typeof yamlText !== 'string') throw new TypeError('the YAML must be a text, not the bytes of a file')
  checkValues('the options of parseComponents', options, { file: isText, ...loadOptions })
  const { file = '<text>', secrets = {} } = options
  const files = new Map([[file, readComponentFile(yamlText, file)]])
  const given = typeof secrets === 'function' ? sortAnswers(referencesIn(files, options), secrets) : sortRecord(secrets)
  return componentsOf(files, given, options)
}

const referencesIn = (files: ComponentFiles, { types = componentTypes, appId }: CommonOptions) =>
  referencesOf(takenDrafts(files, { types, appId }))

function componentsOf(
  files: ComponentFiles,
  given: GivenSecrets,
  options: CommonOptions,
  read?: PathsRead,
): readonly Component[] {
  const { env = process.env, appId, namespace, types = componentTypes } = options
  const logger = unfailing(options.logger ?? silentLogger)
  const words = wordsFor(given)
  const loaded = loadFiles(files, { env, appId, namespace, types, given, words, forLibrary: true }, read)
  for (const mistake of loaded.mistakes) logger.warn(mistake)
  for (const note of loaded.notes) logger.debug(note)
  for (const [component, faults] of loaded.leftOut)
    logger.error(`left out, as it says ignoreErrors: ${faults}`, { component })
  const components = [...loaded.components.values()].map(({ component }) => component)
  if (loaded.issues.length > 0) throw metadataInvalid('the component YAML is not valid', loaded.issues, { components })
  return components
}

const wordsFor = ({ kind }: GivenSecrets): CallerWords => ({
  appId: 'give the option appId',
  secret: (shape) =>
    kind === 'function' ? 'have the function secrets answer for it' : `give the option secrets, such as ${shape}`,
})

const isTexts = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === 'string')
const isText = mustBe('a text', (value) => typeof value === 'string')

const loadOptions: Readonly<Record<string, OptionCheck>> = {
  env: mustBe('an object', isRecord),
  secrets: mustBe('an object or a function', (value) => isRecord(value) || typeof value === 'function'),
  appId: isText,
  namespace: isText,
  types: mustBe('a list of texts', isTexts),
  logger: checkLogger,
}
