/** Where an optional package is missing, an Error says what to install: at the start, not at its first use. */
export function requirePackage(name: string, major: number, purpose: string): void {
  try {
    import.meta.resolve(name)
  } catch (cause) {
    throw new Error(`${purpose} need the package ${name}: npm install ${name}@${major}`, { cause })
  }
}
