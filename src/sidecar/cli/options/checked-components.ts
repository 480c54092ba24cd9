// The components that `--components` and `--secrets` name, read for `check`, `provision` and `replay`; the ones asked for.
import { stat } from 'node:fs/promises'
import { type FolderTexts, readFolder } from '../../../metadata/component/component-folder.ts'
import { createPlaceholders } from '../../../metadata/folder/placeholders.ts'
import { readSecretsFile } from '../../../metadata/folder/secret-stores.ts'
import type { ParsedMetadata } from '../../../metadata/typed/metadata.ts'
import { type CheckedComponent, type LoadCheckedOptions, loadChecked } from '../../check/load-checked.ts'
import { moreIndent } from '../../check/report/report-lines.ts'
import { textOrError } from '../files/read-text.ts'
import { unreadableComponents } from '../files/unreadable-components.ts'
import { UsageError } from '../usage-error.ts'
import { text, texts } from './parse-options.ts'

const defaultComponents = './components'

/** Where components are, as the options say. */
export interface ComponentPaths {
  readonly components: readonly string[]
  /** The JSON file for `secretKeyRef`. */
  readonly secrets: string | undefined
  /** This one only. */
  readonly component: string | undefined
}

export const componentOptions = {
  components: texts('DIR|FILE', `component YAML; repeatable (default ${defaultComponents})`),
  component: text('NAME', 'this one only'),
  secrets: text('FILE', 'JSON file for secretKeyRef, beside the local secret stores of the folder'),
}

export function readComponentOptions(values: {
  readonly components?: string[] | undefined
  readonly component?: string | undefined
  readonly secrets?: string | undefined
}): ComponentPaths {
  const { components = [defaultComponents], component, secrets } = values
  return { components, component, secrets }
}

/** Makes a function that reads all components. It throws a UsageError for a path that can't be read. */
export function componentReader(
  { components, secrets }: ComponentPaths,
  options: Pick<LoadCheckedOptions, 'provisioning'> = {},
): () => Promise<readonly CheckedComponent[]> {
  const { env } = process
  const fill = createPlaceholders({ appId: env.APP_ID ?? '', env, needsAppId: 'set APP_ID in the environment' })
  return async () =>
    loadChecked(await textsOf(components), {
      ...{ env, fill, ...options },
      secrets: () => (secrets === undefined ? {} : readSecretsFile(secrets)),
      excerptWidth: (process.stdout.columns || 120) - moreIndent,
    })
}

/** The components that `--component` asks for; without it all. */
export function asked(all: readonly CheckedComponent[], component: string | undefined): readonly CheckedComponent[] {
  if (component === undefined) return all
  const named = all.filter(({ name }) => name === component)
  // It may stand in a file that can't be read.
  return named.length > 0 ? named : all.filter(({ name }) => name === null)
}

/** A component that can be used: its metadata is valid. */
export type UsableComponent = CheckedComponent & { readonly name: string; readonly metadata: ParsedMetadata }

/**
 * The components that the options ask for.
 *
 * @throws UsageError where there is none, and with all faults where one of them, or a file, is not valid
 */
export async function usableComponents(
  paths: ComponentPaths,
  options: Pick<LoadCheckedOptions, 'provisioning'> = {},
): Promise<readonly UsableComponent[]> {
  const all = await componentReader(paths, options)()
  const wanted = asked(all, paths.component)
  const faults = wanted.flatMap(({ files }) => Object.values(files).filter((one) => one?.status === 'failed'))
  if (faults.length > 0) {
    const texts = faults.flatMap((one) => (one ? [one.detail, one.remedy ?? []] : [])).flat()
    throw new UsageError(texts.join('\n'))
  }
  const usable = wanted.filter(isUsable)
  if (usable.length > 0) return usable
  throw new UsageError([noneFound(paths, all), ...wanted.map(({ files }) => files.yaml.detail)].join('\n'))
}

const isUsable = (one: CheckedComponent): one is UsableComponent => one.name !== null && one.metadata !== undefined

/** Says that there is no component, and which there are. */
export function noneFound({ components, component }: ComponentPaths, all: readonly CheckedComponent[]): string {
  const where = components.join(', ')
  const names = all.flatMap(({ name }) => name ?? [])
  const others = names.length > 0 ? `; there is ${names.join(', ')}` : ''
  return component === undefined
    ? `${where} holds no component of type bindings.azure.eventgrid or bindings.cloud.eventrouter`
    : `${where} holds no component ${JSON.stringify(component)} of ours${others}`
}

async function textsOf(components: readonly string[]): Promise<FolderTexts> {
  const texts = new Map<string, string | Error>()
  for (const path of components) {
    try {
      if ((await stat(path)).isDirectory()) for (const [file, text] of await readFolder(path)) texts.set(file, text)
      else texts.set(path, textOrError(path))
    } catch (error) {
      throw unreadableComponents(path, error)
    }
  }
  return texts
}
