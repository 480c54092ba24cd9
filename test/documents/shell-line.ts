/** A command of a shell block: its words, without redirections of what runs before and after it. */
export type ShellCommand = readonly string[]

/** The commands of a shell block. Quoted words keep their spaces; a comment begins with `#` after white space. */
export function commandsIn(block: string): ShellCommand[] {
  const joined = block.replaceAll(/\\\n/g, ' ')
  return joined.split('\n').flatMap(commandsOfLine)
}

const token = /\s+|(#.*)|(\|\||&&|[|;&])|((?:'[^']*'|"[^"]*"|\\.|[^\s'"|;&\\])+)/gy

function commandsOfLine(line: string): ShellCommand[] {
  const commands: string[][] = [[]]
  for (const [, comment, separator, word] of line.matchAll(token)) {
    if (comment !== undefined) break
    if (separator !== undefined) commands.push([])
    if (word !== undefined) commands.at(-1)?.push(word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'))
  }
  // NAME=value in front of a command is its environment.
  return commands
    .map((words) => words.slice(words.findIndex((word) => !/^\w+=/.test(word))))
    .filter((words) => words.length > 0 && !/^\w+=/.test(words[0] ?? ''))
}
