// Which tests are to notice a change of a file: those of its folder and of the room around it, and those that import it.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'

/** Hands the list to vitest.config.ts, as JSON. */
export const testFilesVariable = 'EVENTGRID_MUTATE_TESTS'

/** The folder of tests that mirrors a folder of a `src`, or the nearest one above it. */
function mirror(folder: string): string | undefined {
  const tests = folder.replace(/^(packages\/[^/]+\/)?src/, '$1test')
  if (tests === 'test' || tests === '.') return undefined
  return existsSync(tests) ? tests : mirror(dirname(folder))
}

export function testsOf(files: readonly string[]): readonly string[] {
  const folders = new Set(files.map((file) => mirror(dirname(file))))
  const isOfRoom = (test: string) =>
    [...folders].some((folder) => {
      const around = dirname(test)
      return test.startsWith(`${folder}/`) || (around !== 'test' && folder?.startsWith(`${around}/`))
    })
  const imports = (test: string) => {
    const text = readFileSync(test, 'utf8')
    return files.some((file) => text.includes(`'${relative(dirname(test), file).replaceAll('\\', '/')}'`))
  }
  const tests = globSync(['test/**/*.test.ts', 'packages/*/test/**/*.test.ts']).map((test) =>
    test.replaceAll('\\', '/'),
  )
  return tests.filter((test) => isOfRoom(test) || imports(test)).sort()
}
