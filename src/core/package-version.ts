/** The version of this package. */

/** The same as in package.json, which a test compares: a program that has this library within has no such file to read. */
export const packageVersion = '0.2.0'
