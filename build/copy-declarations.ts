/** Copies the declarations that a door of the package leads to: nobody can import the others, and each file takes a block on the disk. */
import { cpSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export function copyDeclarations(from: string, to: string, doors: readonly string[]): void {
  const waiting = [...doors]
  const reached = new Set<string>()
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file)) continue
    reached.add(file)
    cpSync(join(from, file), join(to, file))
    const text = readFileSync(join(from, file), 'utf8')
    for (const [, path = ''] of text.matchAll(/(?:from |import\()['"](\.[^'"]+)\.[jt]s['"]/g)) {
      waiting.push(`${join(dirname(file), path)}.d.ts`)
    }
  }
}
