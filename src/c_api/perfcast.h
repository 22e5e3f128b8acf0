/* perfcast.h: forecasts of programs and language models, for C and for languages that can call C.
 *
 *   perfcast_bundle* bundle;
 *   perfcast_error* error = perfcast_open(NULL, &bundle);
 *   if (error == NULL) error = perfcast_forecast_model(bundle, "llama3-8b", "h100,l4", NULL, &answer);
 *   if (error != NULL) fprintf(stderr, "%s\n", perfcast_error_message(error));
 *
 * Texts are UTF-8 and end in a zero byte. Requests and answers are JSON; docs/c-api.md lists the fields. Times are in
 * seconds, sizes in bytes, unless a field's name says otherwise.
 *
 * A function that can fail returns NULL, or an error that the caller frees. Its results are written on success only.
 * No function throws or prints. An open bundle may be used by several threads at once, an error by one.
 *
 * The functions keep their meaning as long as the library is called libperfcast.so.1. Later versions may add functions,
 * fields of requests, and fields of answers. */
#ifndef PERFCAST_H
#define PERFCAST_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PERFCAST_API __attribute__((visibility("default")))
#else
#define PERFCAST_API
#endif

typedef struct perfcast_bundle perfcast_bundle; /* trained models and facts of machines, ready for forecasts */
typedef struct perfcast_error perfcast_error;   /* what was wrong */

/* The version of the library, such as "0.9.0". Nothing to free. */
PERFCAST_API const char* perfcast_version(void);

/* Reads the bundle in the file `bundle_path`, and the facts that perfcast ships: from the folder share/perfcast beside
 * the library's folder, or from the one that the environment variable PERFCAST_SHARE names. NULL: the shipped bundle.
 */
PERFCAST_API perfcast_error* perfcast_open(const char* bundle_path, perfcast_bundle** bundle);

/* NULL is fine. No thread may still use the bundle. */
PERFCAST_API void perfcast_close(perfcast_bundle* bundle);

/* Carries an operation out, such as "forecast". `request_json` is an object with its fields. `answer_json` is the
 * answer; free it with perfcast_free_text(). */
PERFCAST_API perfcast_error* perfcast_call(perfcast_bundle* bundle, const char* operation, const char* request_json,
                                           char** answer_json);

/* How a program runs on each platform of the bundle: the operation "forecast". `profile_json` is the text of a profile,
 * as `perfcast profile -o FILE` writes it. `options_json` is an object with further fields, or NULL. */
PERFCAST_API perfcast_error* perfcast_forecast_profile(perfcast_bundle* bundle, const char* profile_json,
                                                       const char* options_json, char** answer_json);

/* How fast devices run a language model: the operation "llm/forecast". `model` is a name that perfcast knows, or the
 * text of a config.json, which begins with a brace. `devices` are names with commas between them. */
PERFCAST_API perfcast_error* perfcast_forecast_model(perfcast_bundle* bundle, const char* model, const char* devices,
                                                     const char* options_json, char** answer_json);

/* What a service of a language model delivers under a load: the operation "llm/serve-sim". The load is among the
 * fields of `options_json`, such as {"rate": [5]} requests per second. */
PERFCAST_API perfcast_error* perfcast_simulate_serving(perfcast_bundle* bundle, const char* model, const char* devices,
                                                       const char* options_json, char** answer_json);

/* Frees an answer. NULL is fine. */
PERFCAST_API void perfcast_free_text(char* text);

/* An error's parts; they live as long as the error. None is NULL; where and allowed may be empty. */
PERFCAST_API const char* perfcast_error_code(const perfcast_error* error);    /* for programs: "unknown-device" */
PERFCAST_API const char* perfcast_error_message(const perfcast_error* error); /* what was found, in a sentence */
PERFCAST_API const char* perfcast_error_where(const perfcast_error* error);   /* a field, a file and line */
PERFCAST_API const char* perfcast_error_allowed(const perfcast_error* error); /* what would be valid, or what to do */

/* NULL is fine. */
PERFCAST_API void perfcast_free_error(perfcast_error* error);

#ifdef __cplusplus
}
#endif

#endif
