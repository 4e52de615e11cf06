// SHA-256 of the native builds of uWebSockets.js, as published on npm for the versions in package.json.
// `node .ci/native.mjs` writes this list and reports builds that it could not fetch. `.ci/setup.mjs` compares
// the installed packages with the list, and the server compares a build before it loads it.

/** SHA-256 of each `uws.node`, by package and version. */
export const nativeBuilds: Readonly<Record<string, string>> = {
  '@uwsjs/linux-x64-20@20.51.4': '4d482084b665c225892917ee0e9b9572d89eaa6f3dc200ff5e536293d3456c89',
  '@uwsjs/linux-x64-22@20.51.4': 'f687e7c3666b5cca9d355184bbf07bb0550f5ba0d3ffd453248ccfec552dde6c',
  '@uwsjs/linux-x64-23@20.51.4': 'ed86f2297e70febcc89138818c2ca503dad29783bc4bba2aa7cc6d9beba70739',
  '@uwsjs/linux-x64-24@20.69.0': '177efdc682425d754474bd30f9586c487fa6694f790f3406a23885d0e61c07a0',
  '@uwsjs/linux-x64-26@20.69.0': '604375741bf77780b34e7e299af9274cb1f56d73732201d19e3d8d8448176795',
};
