/**
 * Whether an optional package is installed. A file of its own: build/bundle.ts, which puts these packages into the bundle, takes it out.
 */

/** Throws an Error that says what needs the package, and how it is installed, where it is not. */
export function requirePackage(name: string, major: number, purpose: string): void {
  try {
    import.meta.resolve(name)
  } catch (cause) {
    throw new Error(`${purpose} need the package ${name}: npm install ${name}@${major}`, { cause })
  }
}
