// Which tests are to notice a change of a file: those of its room, and those that import it.
import { globSync, readFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'

/** Hands the list to vitest.config.ts, as JSON. */
export const testFilesVariable = 'EVENTGRID_MUTATE_TESTS'

/** The tests of a file's room: those of `src/binding/sides` are in `test/binding`, those of `src/sidecar/host` in `test/sidecar/host`. */
function roomOf(file: string): string | undefined {
  const tests = dirname(file).replace(/^(packages\/[^/]+\/)?src/, '$1test')
  return tests.match(/^(packages\/[^/]+\/)?test\/(sidecar\/)?[^/]+/)?.[0]
}

export function testsOf(files: readonly string[]): readonly string[] {
  const rooms = new Set(files.map(roomOf))
  const isOfRoom = (test: string) => [...rooms].some((room) => test.startsWith(`${room}/`))
  const imports = (test: string) => {
    const text = readFileSync(test, 'utf8')
    return files.some((file) => text.includes(`'${relative(dirname(test), file).replaceAll('\\', '/')}'`))
  }
  const tests = globSync(['test/**/*.test.ts', 'packages/*/test/**/*.test.ts']).map((test) =>
    test.replaceAll('\\', '/'),
  )
  return tests.filter((test) => isOfRoom(test) || imports(test)).sort()
}
