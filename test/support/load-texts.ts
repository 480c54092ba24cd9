import { componentTypes } from '../../src/metadata/component/component-definition.ts'
import { readComponentFiles } from '../../src/metadata/component/component-file.ts'
import { sortRecord } from '../../src/metadata/folder/given-secrets.ts'
import { type LoadOptions, loadFiles } from '../../src/metadata/folder/load-components.ts'

/** Loads texts as `run` loads its files. */
export const loadTexts = (files: Readonly<Record<string, string | Error>>, options: Partial<LoadOptions> = {}) =>
  loadFiles(readComponentFiles(new Map(Object.entries(files))), {
    ...{ appId: '', env: {}, types: componentTypes, given: sortRecord({}) },
    words: { appId: 'give --app-id NAME', secret: (shape) => `put ${shape} somewhere` },
    ...options,
  })
