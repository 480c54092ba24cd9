import { componentTypes } from '../../src/metadata/component/component-definition.ts'
import { describeIssues } from '../../src/metadata/fields/faults.ts'
import { type LoadOptions, loadFiles, readComponentFiles } from '../../src/metadata/load/load-files.ts'
import { sortRecord } from '../../src/metadata/load/secrets.ts'

/** Loads texts as `run` loads its files. */
export function loadTexts(files: Readonly<Record<string, string | Error>>, options: Partial<LoadOptions> = {}) {
  const loaded = loadFiles(readComponentFiles({ texts: new Map(Object.entries(files)) }), {
    ...{ appId: '', env: {}, types: componentTypes, given: sortRecord({}) },
    words: { appId: 'give --app-id NAME', secret: (shape) => `put ${shape} somewhere` },
    ...options,
  })
  const byFile = Map.groupBy(loaded.issues, ({ at }) => at?.file)
  return { ...loaded, faults: [...byFile.values()].map((issues) => describeIssues(issues).join('\n')) }
}
