// A type without the methods that change its values.

/** Lists and objects are read only, at any depth, so that constants can be passed. */
export type ReadonlyDeep<T> = unknown extends T
  ? T
  : T extends object
    ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> }
    : T
