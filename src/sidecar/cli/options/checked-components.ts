/** The components that `--component` asks for are read for `check`, `provision` and `replay`. */

import { describeIssue } from '../../../metadata/fields/faults.ts'
import type { LoadOptions } from '../../../metadata/load/load-files.ts'
import type { ParsedMetadata } from '../../../metadata/typed/metadata.ts'
import { UsageError } from '../../../support/command-line/options.ts'
import { outputOf } from '../../../support/command-line/output.ts'
import { printable } from '../../../support/text/text.ts'
import { type CheckedComponent, loadChecked } from '../../check/load-checked.ts'
import { moreIndent } from '../../check/report.ts'
import { type ComponentPaths, loadSources, readSources } from './component-options.ts'

/** The components, valid or not, and what was left out. */
export interface CheckedFiles {
  readonly all: readonly CheckedComponent[]
  readonly notes: readonly string[]
  /** Notes about components that no application has without `--app-id`. A command that succeeds has to print these notes, too. */
  readonly unclaimed: readonly string[]
}

/** Says on stderr what is nobody's without `--app-id`. */
export function warnOfUnclaimed({ unclaimed }: CheckedFiles): void {
  for (const note of unclaimed) outputOf(2).write(`${printable(note)}\n`)
}

export async function readChecked(
  paths: ComponentPaths,
  options: Pick<LoadOptions, 'provisioning'> = {},
): Promise<CheckedFiles> {
  const sources = await readSources(paths)
  const { issues } = sources.paths
  if (issues.length > 0) throw new UsageError(issues.map(describeIssue).join('\n'))
  const loaded = loadSources(sources, paths, options)
  const unclaimed = [...loaded.files.values()].flatMap((read) => (read instanceof Error ? [] : read.unclaimed))
  return {
    all: loadChecked(loaded, (process.stdout.columns || 120) - moreIndent),
    notes: [...loaded.mistakes, ...loaded.notes],
    unclaimed,
  }
}

/** The components that `--component` asks for; without it all. */
export function asked(all: readonly CheckedComponent[], component: string | undefined): readonly CheckedComponent[] {
  if (component === undefined) return all
  const named = all.filter(({ name }) => name === component)
  // The component may stand in a file that can't be read.
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
  options: Pick<LoadOptions, 'provisioning'> = {},
): Promise<readonly UsableComponent[]> {
  const read = await readChecked(paths, options)
  const wanted = asked(read.all, paths.component)
  const findings = wanted.flatMap(({ files }) => Object.values(files))
  const faults = findings.flatMap((one) => (one?.status === 'failed' ? [one.detail, one.remedy ?? []].flat() : []))
  if (faults.length > 0) throw new UsageError(faults.join('\n'))
  const usable = wanted.filter(isUsable)
  if (usable.length === 0) throw noneFound(paths, read)
  warnOfUnclaimed(read)
  for (const one of findings) if (one?.status === 'warning') outputOf(2).write(`${printable(one.detail)}\n`)
  return usable
}

const isUsable = (one: CheckedComponent): one is UsableComponent => one.name !== null && one.metadata !== undefined

/** The error that there is no such component. Names the components that there are, and what was left out. */
export function noneFound({ components, component }: ComponentPaths, { all, notes }: CheckedFiles): UsageError {
  const where = components.join(', ')
  const names = all.flatMap(({ name }) => name ?? [])
  const others = names.length > 0 ? `; there is ${names.join(', ')}` : ''
  const what =
    component === undefined
      ? `${where} holds no component of type bindings.azure.eventgrid or bindings.cloud.eventrouter`
      : `${where} holds no component ${JSON.stringify(component)} of ours${others}`
  return new UsageError([what, ...notes].join('\n'))
}
