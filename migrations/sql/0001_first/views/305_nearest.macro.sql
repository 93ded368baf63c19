create macro cegdb.nearest(word, words) as
array_to_string(
    [
        '''' || each_pair.each_word || ''''
        for each_pair in list_sort(
            [
                struct_pack(
                    distance := 1 - jaro_winkler_similarity(lower(each_word), lower(word)),
                    each_word := each_word
                )
                for each_word in words
            ]
        )[1:5]
    ],
    ', '
)
|| if(len(words) > 5, ' and ' || cast(len(words) - 5 as varchar) || ' more', '');

comment on macro cegdb.nearest is 'The words most like a word, in quotes and separated by commas, for error messages: select cegdb.nearest(''Hgh'', [''High'', ''Low'']).';
