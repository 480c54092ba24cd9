// The bearer token of a header `Authorization`.

/** `undefined` where the header has another scheme or is missing. */
export const bearerToken = (authorization = ''): string | undefined => /^Bearer\s+(\S+)$/i.exec(authorization)?.[1]
