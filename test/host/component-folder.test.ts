import { expect, it } from 'vitest'
import { otherFiles, readFolder, watchFolder } from '../../src/host/component-folder.ts'
import { makeComponentFolder } from '../support/component-folder.ts'

it('reads the YAML files of a folder in the order of their names, and nothing else', async () => {
  const folder = makeComponentFolder()
  for (const name of ['b.yml', 'a.yaml', 'notes.txt', 'c.YAML', '.#a.yaml']) folder.write(name, name)
  const texts = await readFolder(folder.path)
  expect([...texts.values()]).toEqual(['a.yaml', 'b.yml', 'c.YAML'])
})

/** What `changed` is called with while one state after another is seen. */
function changesOf(states: readonly (string | Error)[]): Promise<readonly string[]> {
  const changes: string[] = []
  return new Promise((resolve) => {
    let looks = 0
    const stop = watchFolder<string>({
      known: 'old',
      intervalMs: 1,
      async read() {
        const state = states[looks++]
        if (state instanceof Error) throw state
        if (state !== undefined) return state
        void stop()
        resolve(changes)
        return changes.at(-1) ?? 'old'
      },
      async changed(state) {
        changes.push(state)
      },
    })
  })
}

it.each([
  { name: 'once it has stood still', states: ['old', 'new', 'new', 'new'], expected: ['new'] },
  { name: 'not for what lasts a moment', states: ['', 'new', 'new'], expected: ['new'] },
  { name: 'not where it comes back to what it was', states: ['new', 'old', 'old'], expected: [] },
  { name: 'not for a look that fails', states: [new Error('gone'), new Error('gone'), 'old'], expected: [] },
  { name: 'for each change', states: ['a', 'a', 'b', 'b'], expected: ['a', 'b'] },
])('tells of a change $name', async ({ states, expected }) => {
  expect(await changesOf(states)).toEqual(expected)
})

it('names the files that are not read for their names', async () => {
  const folder = makeComponentFolder()
  for (const name of ['ok.yaml.txt', 'ok.yml', 'OK.YAML', '.hidden', 'notes.md']) folder.write(name, '')
  expect(await otherFiles(folder.path)).toEqual(['notes.md', 'ok.yaml.txt'])
})
