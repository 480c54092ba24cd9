/** Removes the declarations that no door of the package leads to: nobody can import them, and each file takes a block on the disk. */
import { globSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

export function pruneDeclarations(dist: string, doors: readonly string[]): void {
  const waiting = doors.map((door) => join(dist, door))
  const reached = new Set<string>()
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file)) continue
    reached.add(file)
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]+)\.[jt]s['"]/g)) {
      waiting.push(`${join(dirname(file), path)}.d.ts`)
    }
  }
  for (const file of globSync('**/*.d.ts', { cwd: dist })) {
    if (!reached.has(join(dist, file))) rmSync(join(dist, file))
  }
}
