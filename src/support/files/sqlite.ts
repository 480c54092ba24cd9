/** Node's SQLite, without the warning that it is experimental. */

/** The module `node:sqlite`. Node 22 prints a warning when the module is loaded, which tells a user of a program nothing that he can act on. */
export function loadSqlite() {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return process.getBuiltinModule('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
  }
}
