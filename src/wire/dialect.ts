/** The names that vary between deployments of the service (S intro, S 2.1, S 4.3). */
export interface Dialect {
  /** The product name that stands for `svc` in routes and fields. */
  apiName: string;
  /** Shape of the fit request: `task_config` is shape B of S 4.3, `flat` is shape A. */
  fitRequest: 'task_config' | 'flat';
  /** Naming of file info: `schema` is format/hash, `sample` is filename/content_hash (S 2.1). */
  fileInfo: 'schema' | 'sample';
}

export const DEFAULT_DIALECT: Dialect = { apiName: 'svc', fitRequest: 'task_config', fileInfo: 'schema' };
