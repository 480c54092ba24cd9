import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { Project, ts } from 'ts-morph'
import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const file = resolve(root, 'test/types/front-door.ts')

// Each wrong call in the file has a comment that expects an error, so a wrong call that compiles is an error too.
it('compiles right calls and refuses wrong ones under the current TypeScript', async () => {
  const tsc = resolve(root, 'node_modules/typescript/bin/tsc')
  const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', '--types', 'node']
  const target = ['--module', 'nodenext', '--target', 'es2023', '--ignoreConfig', file]
  const failed = (failure: { stdout: string }) => failure
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, ...options, ...target], { cwd: root }).catch(
    failed,
  )
  expect(stdout).toBe('')
}, 60_000)

// ts-morph brings TypeScript 5.9, and no second `tsc` that would take the place of the current one.
it('compiles right calls and refuses wrong ones under TypeScript 5.9', () => {
  expect(ts.version).toMatch(/^5\.9\./)
  const project = new Project({
    skipAddingFilesFromTsConfig: true,
    compilerOptions: {
      noEmit: true,
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
      types: ['node'],
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2023,
    },
  })
  project.addSourceFileAtPath(file)
  expect(project.formatDiagnosticsWithColorAndContext(project.getPreEmitDiagnostics())).toBe('')
}, 60_000)
