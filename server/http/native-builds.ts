// SHA-256 of the native builds of uWebSockets.js and of the scripts that load them, as published on npm for
// the versions in package.json. `node .ci/native.mjs` writes this list and reports builds that it could not
// fetch. `.ci/setup.mjs` compares the installed packages with the list, and the server compares a build
// before it loads it.

/** SHA-256 of each `uws.node`, by package and version. */
export const nativeBuilds: Readonly<Record<string, string>> = {
  '@uwsjs/linux-x64-18@20.51.4': '3207c4249038846165d8599c3811cfca0540fa68c94dcb58c96905cf117a5ddc',
  '@uwsjs/linux-x64-20@20.51.4': '4d482084b665c225892917ee0e9b9572d89eaa6f3dc200ff5e536293d3456c89',
  '@uwsjs/linux-x64-22@20.51.4': 'f687e7c3666b5cca9d355184bbf07bb0550f5ba0d3ffd453248ccfec552dde6c',
  '@uwsjs/linux-x64-22@20.69.0': '34d235864db874fbf3aeafd48b63f6fb80f61fb584a86f1e5f7b0291dbd7a3d4',
  '@uwsjs/linux-x64-23@20.51.4': 'ed86f2297e70febcc89138818c2ca503dad29783bc4bba2aa7cc6d9beba70739',
  '@uwsjs/linux-x64-24@20.69.0': '177efdc682425d754474bd30f9586c487fa6694f790f3406a23885d0e61c07a0',
  '@uwsjs/linux-x64-26@20.69.0': '604375741bf77780b34e7e299af9274cb1f56d73732201d19e3d8d8448176795',
};

/** SHA-256 of each `uws.js`, by version of `@uwsjs/core`. */
export const nativeScripts: Readonly<Record<string, string>> = {
  '20.51.4': '5ca6d3db8d8393c91994863b413f3f09e140582f8f67249e1846da530e70e61b',
  '20.69.0': '17a11b409d7665320eaaf548fa09be8b49be264b5c1409f6f4858b51f4b3bcaf',
};
