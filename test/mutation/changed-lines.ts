// The lines of the source that a branch has changed, committed or not, as Stryker wants them: `file:first-last`; a new file as a whole.
import { execFileSync } from 'node:child_process'

/** The source of the binding and of the emulator. */
const rooms = ['src/*.ts', 'packages/*/src/*.ts']

const git = (...args: readonly string[]) => execFileSync('git', args, { encoding: 'utf8' })

export function changedLines(since: string): readonly string[] {
  const places: string[] = []
  let file = ''
  for (const line of git('diff', '--unified=0', '--no-color', '--merge-base', since, '--', ...rooms).split('\n')) {
    file = line.match(/^\+\+\+ b\/(.*)/)?.[1] ?? file
    const hunk = line.match(/^@@ \S+ \+(\d+)(?:,(\d+))? @@/)
    const [first, count] = [Number(hunk?.[1]), Number(hunk?.[2] ?? 1)]
    if (hunk && count > 0) places.push(`${file}:${first}-${first + count - 1}`)
  }
  const untracked = git('ls-files', '--others', '--exclude-standard', '--', ...rooms)
  return [...places, ...untracked.split('\n').filter(Boolean)]
}
