/** What every part of the page of a project gets. */
export interface ProjectPartProps {
  /** Of the project. */
  readonly id: string
  /** Nothing changes in an archived one. */
  readonly isActive: boolean
  /** Whether the session sees the whole account: what a project may use is changed from outside. */
  readonly isOfAccount: boolean
}
