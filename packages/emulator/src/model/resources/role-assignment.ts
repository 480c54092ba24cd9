// A role that a principal holds at a scope.

/** A role that a principal holds at a scope and below. */
export interface RoleAssignment {
  /** Resource id of the assignment. */
  readonly id: string
  readonly principalId: string
  readonly roleId: string
  readonly scope: string
}
